# Twenty walkers of Ahmed, Zaidi and Sharif 2006 for ns-2.35:
# ns walkers.tcl AGENT MOTION SINKS SEED SECONDS HEADERS SCHEDULER
#   AGENT      Newreno or Sack1
#   MOTION     a movement file, as of setdest
#   SINKS      destination of each node: a list of numbers
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
# Prints "acked N", the segments of all connections that are acknowledged. Only AODV's drops are traced, because
# this trace cannot be switched off.
lassign $argv agent motion sinks seed stop headers scheduler

set benches [file join [file dirname [info script]] .. .. .. benches]
source [file join $benches ns2.tcl]
source [file join $benches wavelan.tcl]
carry $headers {LL Mac ARP AODV}
Mac/802_11 set dataRate_ 11Mb

set ns_ [new Simulator]
$ns_ use-scheduler $scheduler
$defaultRNG seed $seed
# ns-2 wants a file for its traces even when all of them are off.
$ns_ trace-all [open /dev/null w]

set field [new Topography]
$field load_flatgrid 1200 800
set god_ [create-god [llength $sinks]]
$ns_ node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $field \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
for {set i 0} {$i < [llength $sinks]} {incr i} {
    set node_($i) [$ns_ node]
    $node_($i) random-motion 0
}
source $motion

set senders {}
for {set i 0} {$i < [llength $sinks]} {incr i} {
    set sender [new Agent/TCP/$agent]
    set sink [new Agent/TCPSink[expr {$agent eq "Sack1" ? "/Sack1" : ""}]]
    $sender set packetSize_ 1000
    $ns_ attach-agent $node_($i) $sender
    $ns_ attach-agent $node_([lindex $sinks $i]) $sink
    $ns_ connect $sender $sink
    set transfer [new Application/FTP]
    $transfer attach-agent $sender
    $ns_ at [expr {1.0 + 0.1 * $i}] "$transfer start"
    lappend senders $sender
}

proc finish {} {
    global senders
    set acked 0
    foreach sender $senders { incr acked [expr {max(0, [$sender set ack_])}] }
    puts "acked $acked"
    exit 0
}
$ns_ at $stop finish
$ns_ run
