array set o {tcp Newreno sink "" window 20 drops "" marks "" tmax 30 prof n2 delack 0}
foreach a $argv { if {[regexp {^([a-z]+)=(.*)$} $a -> k v]} { set o($k) $v } }
set ns [new Simulator]
$ns trace-all [open /dev/null w]
set n0 [$ns node]; set n1 [$ns node]; set n2 [$ns node]
$ns duplex-link $n0 $n1 100Mb 0.01ms DropTail
$ns duplex-link $n1 $n2 10Mb 50ms DropTail
$ns queue-limit $n0 $n1 10000; $ns queue-limit $n1 $n2 10000; $ns queue-limit $n2 $n1 10000;  $ns queue-limit $n1 $n0 10000
set f [open $o(out) w]
$ns trace-queue $n0 $n1 $f
if {$o(prof) eq "n2e"} {
Agent/TCP set precisionReduce_ false; Agent/TCP set rtxcur_init_ 6.0; Agent/TCP set minrto_ 1.0; Agent/TCP set singledup_ 0
Agent/TCP/Newreno set newreno_changes1_ 0; Agent/TCP/Newreno set partial_window_deflation_ 0 }
Agent/TCP set ecn_ 1
Agent/TCPSink/DelAck set interval_ 83ms
if {$o(tcp) eq "Tahoe"} { set s [new Agent/TCP] } else { set s [new Agent/TCP/$o(tcp)] }
if {$o(sink) eq ""} {set k [new Agent/TCPSink]} else {set k [new Agent/TCPSink/$o(sink)]}
$s set window_ $o(window)
$ns attach-agent $n0 $s; $ns attach-agent $n2 $k; $ns connect $s $k
set ftp [new Application/FTP]; $ftp attach-agent $s
# Of two modules on a link the one added last is passed first: what is marked has not been dropped, but is counted.
set em [new ErrorModel/List]; $em droplist [split $o(drops) ,]
$em drop-target [new Agent/Null]
$ns lossmodel $em $n1 $n2
set mm [new ErrorModel/List]; $mm set markecn_ true; $mm droplist [split $o(marks) ,]
$ns lossmodel $mm $n1 $n2
$ns at 0.0 "$ftp start"
$ns at $o(tmax) "exit 0"
$ns run
