# ns packet_sizes.tcl PROTOCOL SOURCE HOPS START: packets of 512 B over a chain; the new trace goes to packet_sizes.tr.
# packet_sizes.txt has of the traces of ns-2.35, for 1 and 2 hops (DSDV: 1), from 40 s on (DSDV waits: from 0 s on), the
# sizes with which nodes send data and acknowledgements to the MAC: protocol, source, hops, start, kind, and the sizes less
# 58 B, the MAC's header and the PLCP's, in order. A SYN counts as an acknowledgement.
foreach {protocol source hops start} $argv break
set ns [new Simulator]
$ns use-newtrace
$ns trace-all [open packet_sizes.tr w]
set topo [new Topography]; $topo load_flatgrid 3000 1000
create-god [expr $hops + 1]
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set RTSThreshold_ 10000
set queue [expr {$protocol eq "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}]
$ns node-config -adhocRouting $protocol -llType LL -macType Mac/802_11 -ifqType $queue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo -routerTrace OFF -macTrace ON
for {set i 0} {$i <= $hops} {incr i} {
    set n($i) [$ns node]; $n($i) random-motion 0
    $n($i) set X_ [expr 10 + 200 * $i]; $n($i) set Y_ 10; $n($i) set Z_ 0
}
if {$source eq "ftp"} {
    set from [new Agent/TCP/Newreno]; set to [new Agent/TCPSink]; set app [new Application/FTP]
    $from set packetSize_ 512
} else {
    set from [new Agent/UDP]; set to [new Agent/Null]
    set app [new Application/Traffic/[expr {$source eq "cbr" ? "CBR" : "Exponential"}]]
    $app set packetSize_ 512; $app set rate_ 20k
    if {$source eq "on_off"} { $app set burst_time_ 1000; $app set idle_time_ 0 }
}
$ns attach-agent $n(0) $from; $ns attach-agent $n($hops) $to; $ns connect $from $to; $app attach-agent $from
$ns at $start "$app start"
$ns at 60 "exit 0"
$ns run
