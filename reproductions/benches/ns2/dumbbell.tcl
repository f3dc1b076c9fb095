# Long flows over one bottleneck for ns-2.35: ns dumbbell.tcl FLOWS RATE QUEUE SEED SECONDS HEADERS SCHEDULER
#   FLOWS      number of flows, each between two hosts of its own
#   RATE       of the bottleneck, e.g. 10Mb
#   QUEUE      of the bottleneck, in packets
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
# Prints "acked N", the segments of all flows that are acknowledged. Nothing is traced.
lassign $argv flows rate queue seed seconds headers scheduler

if {$headers eq "few"} {
    remove-all-packet-headers
    add-packet-header Common Flags IP TCP
}
set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed

proc wire {from to rate delay limit} {
    global sim
    $sim duplex-link $from $to $rate $delay DropTail
    $sim queue-limit $from $to $limit
    $sim queue-limit $to $from $limit
}

set left [$sim node]
set right [$sim node]
wire $left $right $rate 10ms $queue
set senders {}
for {set i 0} {$i < $flows} {incr i} {
    set from [$sim node]
    set to [$sim node]
    # No two packets meet at the same instant.
    wire $from $left 10Gb [expr {1.0 + 0.013 * $i}]ms 10000
    wire $right $to 10Gb 1ms 10000
    set sender [new Agent/TCP/Newreno]
    $sender set packetSize_ 1460
    $sender set window_ 64
    $sender set windowInit_ 1
    set sink [new Agent/TCPSink]
    $sim attach-agent $from $sender
    $sim attach-agent $to $sink
    $sim connect $sender $sink
    set transfer [new Application/FTP]
    $transfer attach-agent $sender
    $sim at [expr {0.01 * $i}] "$transfer start"
    lappend senders $sender
}

proc finish {} {
    global senders
    set acked 0
    foreach sender $senders {
        incr acked [expr {[$sender set ack_] + 1}]
    }
    puts "acked $acked"
    exit 0
}
$sim at $seconds finish
$sim run
