# The random topologies of benches/scale.py for ns-2.35:
# ns scale.tcl PLACES FLOWS SEED SECONDS HEADERS SCHEDULER ROUTING [TRACE]
#   PLACES     file with a line "X Y" [m] for each node
#   FLOWS      file with a line "FROM TO START" for each flow [s]
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
#   ROUTING    AODV, or DSR with its queue
#   TRACE      file for the MAC trace; without it nothing is traced but AODV's drops, which cannot be switched off
# Prints "delivered BYTES", what the sinks have received in order, and "acked N", the segments that are acknowledged.
foreach {places flows seed seconds headers scheduler routing} $argv break
set trace [lindex $argv 7]

proc rows {file} {
    set opened [open $file]
    return [split [string trim [read $opened]] "\n"]
}
set places [rows $places]
set flows [rows $flows]

source [file join [file dirname [info script]] ns2.tcl]
source [file join [file dirname [info script]] wavelan.tcl]
carry $headers [expr {$routing eq "DSR" ? {LL Mac ARP SR Message} : {LL Mac ARP AODV}}]
Mac/802_11 set dataRate_ 11Mb

set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed
# ns-2 wants a file for its traces even when all of them are off.
$sim trace-all [open [expr {$trace eq "" ? "/dev/null" : $trace}] w]

set width 0
set height 0
foreach place $places {
    foreach {x y} $place break
    set width [expr {max($width, int($x) + 200)}]
    set height [expr {max($height, int($y) + 200)}]
}
set field [new Topography]
$field load_flatgrid $width $height
create-god [llength $places]
$sim node-config -adhocRouting $routing -llType LL -macType Mac/802_11 \
    -ifqType [expr {$routing eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $field \
    -agentTrace OFF -routerTrace OFF -macTrace [expr {$trace eq "" ? "OFF" : "ON"}] -movementTrace OFF
set i 0
foreach place $places {
    set node($i) [$sim node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {100.0 + [lindex $place 0]}]
    $node($i) set Y_ [expr {100.0 + [lindex $place 1]}]
    $node($i) set Z_ 0.0
    incr i
}

set sinks {}
set senders {}
foreach flow $flows {
    foreach {from to start} $flow break
    lassign [connection Newreno $node($from) $node($to)] sender sink
    start_transfer $sender $start
    lappend sinks $sink
    lappend senders $sender
}

proc finish {} {
    global sim sinks senders
    $sim flush-trace
    set bytes 0
    foreach sink $sinks {
        incr bytes [$sink set bytes_]
    }
    puts "delivered $bytes"
    puts "acked [acked $senders]"
    exit 0
}
$sim at $seconds finish
$sim run
