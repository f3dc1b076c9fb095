# ns middlebox_random_losses.tcl tcp=Newreno sink= window=20 mech=snoop|eln|both drops=7,9 tmax=3 out=FILE
# source - 10 Mbit/s, 40 ms - BS = LAN = C1 - 2 Mbit/s, 10 ms, losses - C2 = LAN = AP; the sink is at AP
array set o {tcp Newreno sink "" window 20 drops "" tmax 5 mech snoop out /dev/null}
foreach a $argv { if {[regexp {^([a-z]+)=(.*)$} $a -> k v]} { set o($k) $v } }
set ns [new Simulator]
$ns trace-all [open /dev/null w]
foreach c {LL LL/LLSnoop} { $c set delay_ 0; $c set mindelay_ 0 }
Mac set bandwidth_ 1000Mb
foreach n {n0 BS C1 C2 AP} { set $n [$ns node] }
$ns duplex-link $n0 $BS 10Mb 40ms DropTail
$ns duplex-link $C1 $C2 2Mb 10ms DropTail
foreach {a b} [list $n0 $BS $BS $n0 $C1 $C2 $C2 $C1] { $ns queue-limit $a $b 1000 }
set llB LL; set llA LL
if {$o(mech) ne "eln" && $o(mech) ne "tcp"} { set llB LL/LLSnoop }
if {$o(mech) eq "eln" || $o(mech) eq "both"} { set llA LL/LLSnoop }
set l1 [$ns make-lan [list $C1] 1000Mb 0ms LL Queue/DropTail Mac]
$l1 addNode [list $BS] 1000Mb 0ms $llB Queue/DropTail Mac
set l2 [$ns make-lan [list $C2] 1000Mb 0ms LL Queue/DropTail Mac]
$l2 addNode [list $AP] 1000Mb 0ms $llA Queue/DropTail Mac
set f [open $o(out) w]
$ns trace-queue $n0 $BS $f
if {$o(tcp) eq "Tahoe"} { set s [new Agent/TCP] } else { set s [new Agent/TCP/$o(tcp)] }
if {$o(sink) eq ""} {set k [new Agent/TCPSink]} else {set k [new Agent/TCPSink/$o(sink)]}
$s set window_ $o(window)
$s set packetSize_ 1000
if {$o(mech) eq "eln" || $o(mech) eq "both"} { $s set eln_ 1; $s set eln_rxmit_thresh_ 1 }
$ns attach-agent $n0 $s; $ns attach-agent $AP $k; $ns connect $s $k
set ftp [new Application/FTP]; $ftp attach-agent $s
set em [new ErrorModel/List]; $em droplist [split $o(drops) ,]
$ns link-lossmodel $em $C1 $C2
$em drop-target [new Agent/Null]
$ns at 0.0 "$ftp start"
$ns at $o(tmax) "close $f; exit 0"
$ns run
