# Eighteen nodes that walk as in a movement file, under stock ns-2.35, for the comparison of DSR (docs/validation-dsr.md).
# ns dsr_walks.tcl MOVEMENT SEED
# writes the trace of agents and routers, and at the end a line RESULT for each flow of TCP.

lassign $argv movement seed

set rate 2
set ns [new Simulator]
$defaultRNG seed $seed
remove-all-packet-headers
add-packet-header IP TCP LL Mac ARP SR Common Flags RTP
$ns trace-all stdout
set topography [new Topography]
$topography load_flatgrid 1600 800
set god_ [create-god 18]

source [file join [file dirname [info script]] radio.tcl]
$ns node-config -adhocRouting DSR -ifqType CMUPriQueue -agentTrace ON -routerTrace ON
for {set i 0} {$i < 18} {incr i} {
    set node_($i) [$ns node]
    $node_($i) random-motion 0
}
set ns_ $ns
source $movement

for {set i 0} {$i < 4} {incr i} {
    set sender($i) [new Agent/TCP/Vegas]
    $sender($i) set packetSize_ 1460
    $sender($i) set window_ 32
    $sender($i) set fid_ $i
    foreach name {v_alpha_ v_beta_ v_gamma_} { $sender($i) set $name 2 }
    set receiver [new Agent/TCPSink]
    $ns attach-agent $node_($i) $sender($i)
    $ns attach-agent $node_([expr {$i + 9}]) $receiver
    $ns connect $sender($i) $receiver
    set transfer [new Application/FTP]
    $transfer attach-agent $sender($i)
    $ns at [expr {$i + 1.0}] "$transfer start"
}

set source [new Agent/UDP]
$source set packetSize_ 512
$source set fid_ 4
set monitor [new Agent/LossMonitor]
$ns attach-agent $node_(4) $source
$ns attach-agent $node_(14) $monitor
$ns connect $source $monitor
set datagrams [new Application/Traffic/CBR]
$datagrams set packetSize_ 512
$datagrams set interval_ 0.2
$datagrams set random_ 0
$datagrams attach-agent $source
$ns at 10.0 "$datagrams start"

proc finish {} {
    global sender
    for {set i 0} {$i < 4} {incr i} {
        puts "RESULT $i [$sender($i) set ack_] [$sender($i) set nrexmitpack_] [$sender($i) set nrexmit_]"
    }
    exit 0
}
$ns at 200.0 finish
$ns run
