# ns-2.35: segments that arrive at a receiver that delays its acknowledgements, some of them a second time because
# segments or acknowledgements were lost, and the acknowledgements: "ns delayed_acks.tcl > delayed_acks.txt".
# A line: variant, time [s], "data" or "ack", number (of an acknowledgement: the last segment in order).
proc one {variant kind window segments acks} {
    global ns
    set a [$ns node]
    set b [$ns node]
    $ns simplex-link $a $b 1Mb 10ms DropTail
    $ns simplex-link $b $a 1Mb 10ms DropTail
    foreach list [list $segments $acks] from [list $a $b] to [list $b $a] {
        if {$list == ""} { continue }
        set model [new ErrorModel/List]
        $model droplist $list
        $model drop-target [new Agent/Null]
        $ns link-lossmodel $model $from $to
    }
    set source [new Agent/$kind]
    set sink [new Agent/TCPSink/DelAck]
    $source set packetSize_ 1000
    $source set window_ $window
    $ns attach-agent $a $source
    $ns attach-agent $b $sink
    $ns connect $source $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $source
    $ns at 0.0 "$ftp start"
    set of($variant) [open $variant.tr w]
    $ns trace-queue $a $b $of($variant)
    $ns trace-queue $b $a $of($variant)
    return $of($variant)
}
set ns [new Simulator]
set cases {
    {newreno TCP/Newreno 1 "" {3 6}}
    {vegas TCP/Vegas 4 "" {2 5 6 9}}
    {tahoe TCP 3 "" {4 5 6 9}}
    {reno TCP/Reno 16 {13 18 19 21 28 30} ""}
}
foreach case $cases { lappend traces [eval one $case] }
proc finish {} {
    global cases traces
    foreach case $cases trace $traces {
        close $trace
        set variant [lindex $case 0]
        foreach line [split [read [open $variant.tr]] "\n"] {
            set word [lindex $line 0]
            set kind [lindex $line 4]
            if {$word == "r" && $kind == "tcp"} { puts "$variant [lindex $line 1] data [lindex $line 10]" }
            if {$word == "+" && $kind == "ack"} { puts "$variant [lindex $line 1] ack [lindex $line 10]" }
        }
    }
    exit 0
}
$ns at 1.7 finish
$ns run
