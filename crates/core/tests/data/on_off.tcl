# ns on_off.tcl TRANSPORT MESSAGE SEGMENT RATE: what an exponential on/off source sends from 5 s on; it stops at 12 s.
# on_off.txt has of the traces of ns-2.35, for the arguments
#   tcp 512 512 10Mb;  tcp 1300 512 10Mb;  udp 512 0 10Mb;  tcp 512 512 20kb,
# the enqueued packets of type exp: case from 0 on, time, bytes.
foreach {transport message segment rate} $argv break
set ns [new Simulator]
$defaultRNG seed 1
$ns trace-all stdout
set a [$ns node]; set b [$ns node]
$ns duplex-link $a $b $rate 10ms DropTail
if {$transport eq "tcp"} {
    set from [new Agent/TCP]; set to [new Agent/TCPSink]
    $from set packetSize_ $segment; $from set window_ 20
} else {
    set from [new Agent/UDP]; set to [new Agent/Null]
}
$ns attach-agent $a $from; $ns attach-agent $b $to; $ns connect $from $to
set source [new Application/Traffic/Exponential]
$source set packetSize_ $message; $source set rate_ 64k; $source set burst_time_ 0.2; $source set idle_time_ 0.8
$source attach-agent $from
$ns at 5 "$source start"; $ns at 12 "$source stop"
$ns at 40 "exit 0"
$ns run
