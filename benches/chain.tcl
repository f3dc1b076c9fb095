# The runs of benches/chain.toml for ns-2.35: ns chain.tcl AGENT RATE SEED SECONDS HEADERS SCHEDULER [TRACE]
#   AGENT      Newreno or Vegas
#   RATE       data rate, e.g. 2Mb
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
#   TRACE      file for the MAC trace; without it nothing is traced but AODV's drops, which cannot be switched off
# Prints "delivered BYTES", what the sink has received in order, and "acked N", the segments that are acknowledged.
foreach {agent rate seed seconds headers scheduler} $argv break
set trace [lindex $argv 6]
set hops 7
set spacing 200.0

source [file join [file dirname [info script]] ns2.tcl]
source [file join [file dirname [info script]] wavelan.tcl]
carry $headers {LL Mac ARP AODV}
Mac/802_11 set dataRate_ $rate

set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed
# ns-2 wants a file for its traces even when all of them are off.
$sim trace-all [open [expr {$trace eq "" ? "/dev/null" : $trace}] w]

set field [new Topography]
$field load_flatgrid [expr {int(($hops + 2) * $spacing)}] 200
create-god [expr {$hops + 1}]
$sim node-config -adhocRouting AODV -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $field \
    -agentTrace OFF -routerTrace OFF -macTrace [expr {$trace eq "" ? "OFF" : "ON"}] -movementTrace OFF
for {set i 0} {$i <= $hops} {incr i} {
    set node($i) [$sim node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {100.0 + $i * $spacing}]
    $node($i) set Y_ 100.0
    $node($i) set Z_ 0.0
}

lassign [connection $agent $node(0) $node($hops)] sender sink
if {$agent eq "Vegas"} {
    $sender set v_alpha_ 2
    $sender set v_beta_ 2
    $sender set v_gamma_ 2
}
start_transfer $sender 1.0

proc finish {} {
    global sim sender sink
    $sim flush-trace
    puts "delivered [$sink set bytes_]"
    puts "acked [acked $sender]"
    exit 0
}
$sim at $seconds finish
$sim run
