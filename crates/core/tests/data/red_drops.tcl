# Constant-rate flows through a RED queue: which packets it drops. Usage: ns red_drops.tcl out=FILE set="gentle_ false"
array set o {out red.tr set "" tmax 12}
foreach a $argv { if {[regexp {^([a-z]+)=(.*)$} $a -> k v]} { set o($k) $v } }
set ns [new Simulator]
$defaultRNG seed 1
foreach {k v} $o(set) { Queue/RED set $k $v }
$ns trace-all [open /dev/null w]
set n0 [$ns node]; set n1 [$ns node]
$ns simplex-link $n0 $n1 2Mb 10ms RED
$ns simplex-link $n1 $n0 2Mb 10ms DropTail
$ns queue-limit $n0 $n1 50
$ns trace-queue $n0 $n1 [open $o(out) w]
proc flow {size interval start stop} {
    global ns n0 n1
    set u [new Agent/UDP]; $u set packetSize_ 2000; $ns attach-agent $n0 $u
    set k [new Agent/Null]; $ns attach-agent $n1 $k; $ns connect $u $k
    set c [new Application/Traffic/CBR]; $c set packetSize_ $size; $c set interval_ $interval; $c set random_ 0
    $c attach-agent $u
    $ns at $start "$c start"; $ns at $stop "$c stop"
}
flow 1000 0.0070133 0.01010007 11
flow 400 0.0023071 0.50030031 3
flow 600 0.0045013 1.50070053 2.5
flow 1200 0.0041117 5.00090079 8
flow 200 0.0009073 9.00010091 9.6
$ns at $o(tmax) "exit 0"
$ns run
