# The classroom of Ramarathinam and Labrador 2003 for ns-2.35:
# ns classroom.tcl AGENT ROUTING SEED SECONDS [HEADERS SCHEDULER]
#   AGENT      Tahoe, Reno, Newreno, Vegas or Sack1
#   ROUTING    AODV, DSR or DSDV
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
# Prints "acked N", the segments of all 130 connections that are acknowledged. Only AODV's drops are traced, because
# this trace cannot be switched off.
set defaults {- - 1 500 all Calendar}
foreach {agent routing seed stop headers scheduler} [concat $argv [lrange $defaults [llength $argv] end]] break
set places {{4.5 0.5} {3 2.5} {7 2.5} {2 4.5} {6 4.5} {4 6.5} {8 6.5} {1 8.5} {5 8.5} {3 10.5} {7 10.5}}

set benches [file join [file dirname [info script]] .. .. .. benches]
source [file join $benches ns2.tcl]
source [file join $benches wavelan.tcl]
carry $headers {LL Mac ARP AODV SR Message}
Mac/802_11 set dataRate_ 2Mb

set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed
# ns-2 wants a file for its traces even when all of them are off.
$sim trace-all [open /dev/null w]

set field [new Topography]
$field load_flatgrid 20 20
create-god [llength $places]
# The queue of the others crashes with DSR.
$sim node-config -adhocRouting $routing -llType LL -macType Mac/802_11 \
    -ifqType [expr {$routing eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $field \
    -energyModel EnergyModel -initialEnergy 200.0 -rxPower 0.5 -txPower 0.3 -idlePower 0.0 -sleepPower 0.0 \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
set i 0
foreach place $places {
    set node($i) [$sim node]
    $node($i) random-motion 0
    $node($i) set X_ [lindex $place 0]
    $node($i) set Y_ [lindex $place 1]
    $node($i) set Z_ 0.0
    # The lines of the energy model, one for each frame and node, go nowhere.
    $node($i) log-target [new Trace/Generic]
    incr i
}

set senders {}
proc connect {from to} {
    global sim node agent senders
    set sender [new Agent/TCP[expr {$agent eq "Tahoe" ? "" : "/$agent"}]]
    set sink [new Agent/TCPSink[expr {$agent eq "Sack1" ? "/Sack1" : ""}]]
    $sender set packetSize_ 512
    $sim attach-agent $node($from) $sender
    $sim attach-agent $node($to) $sink
    $sim connect $sender $sink
    lappend senders $sender
    return $sender
}
proc transfer {from to begin end} {
    global sim
    set transfer [new Application/FTP]
    $transfer attach-agent [connect $from $to]
    $sim at $begin "$transfer start"
    $sim at $end "$transfer stop"
}
for {set k 1} {$k <= 10} {incr k} {
    transfer $k 0 [expr {25 * $k}] [expr {25 * $k + 250}]
    foreach {begin end} {0.0 100 200 300 350 450} { transfer 0 $k $begin $end }
    for {set other 1} {$other <= 10} {incr other} {
        if {$other == $k} { continue }
        set source [new Application/Traffic/Exponential]
        $source set packetSize_ 512
        $source set burst_time_ 200ms
        $source set idle_time_ 800ms
        $source set rate_ 64k
        $source attach-agent [connect $k $other]
        $sim at 5.0 "$source start"
    }
}

proc finish {} {
    global senders
    set acked 0
    foreach sender $senders { incr acked [expr {max(0, [$sender set ack_])}] }
    puts "acked $acked"
    exit 0
}
$sim at $stop finish
$sim run
