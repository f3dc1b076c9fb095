# Long flows over one bottleneck for ns-2.35: ns dumbbell.tcl FLOWS RATE QUEUE SEED SECONDS HEADERS SCHEDULER
#   FLOWS      number of flows, each between two hosts of its own
#   RATE       of the bottleneck, e.g. 10Mb
#   QUEUE      of the bottleneck, in packets
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
# Prints "acked N", the segments of all flows that are acknowledged. Nothing is traced.
lassign $argv flows rate queue seed seconds headers scheduler

source [file join [file dirname [info script]] wires.tcl]
carry $headers {}
set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed

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
    lassign [connection Newreno $from $to] sender sink
    start_transfer $sender [expr {0.01 * $i}]
    lappend senders $sender
}

proc finish {} {
    global senders
    puts "acked [acked $senders]"
    exit 0
}
$sim at $seconds finish
$sim run
