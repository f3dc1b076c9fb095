# ns wired_dumbbell.tcl TRACE: two NewReno flows over a dumbbell, 0, 1 -- 2 == 3; the queue of 2 -> 3 overflows.
# wired_dumbbell.txt has of the trace of ns-2.35, for the arrivals at 3 before 3.9 s, when the first timer expires whose
# phase is drawn: time, from, to, type, bytes, flow, number.
set ns [new Simulator]
set f [open [lindex $argv 0] w]
$ns trace-all $f
for {set i 0} {$i<4} {incr i} { set n($i) [$ns node] }
$ns duplex-link $n(0) $n(2) 10Mb 2ms DropTail
$ns duplex-link $n(1) $n(2) 10Mb 3ms DropTail
$ns duplex-link $n(2) $n(3) 2Mb 20ms DropTail
$ns queue-limit $n(2) $n(3) 10
for {set i 0} {$i<2} {incr i} {
  set tcp($i) [new Agent/TCP/Newreno]; set sink($i) [new Agent/TCPSink]
  $tcp($i) set packetSize_ 1000; $tcp($i) set window_ 30; $tcp($i) set fid_ $i
  $ns attach-agent $n($i) $tcp($i); $ns attach-agent $n(3) $sink($i)
  $ns connect $tcp($i) $sink($i)
  set ftp($i) [new Application/FTP]; $ftp($i) attach-agent $tcp($i)
}
$ns at 0.0 "$ftp(0) start"
$ns at 0.3 "$ftp(1) start"
$ns at 4.0 "exit 0"
$ns run
