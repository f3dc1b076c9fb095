# Short flows over three wires for ns-2.35: ns short_flows.tcl RATE SEGMENTS SEED SECONDS HEADERS SCHEDULER
#   RATE       flows that begin in a second, in a Poisson process
#   SEGMENTS   length of each flow
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
# Prints "acked N", the segments of all flows that have ended. Nothing is traced.
#
# To make agents takes ns-2 longer than to run them, so that each pair carries one flow after the other.
lassign $argv rate segments seed seconds headers scheduler

source [file join [file dirname [info script]] wires.tcl]
carry $headers {}
set sim [new Simulator]
$sim use-scheduler $scheduler
set draw [new RNG]
$draw seed $seed

foreach name {from left right to} { set $name [$sim node] }
wire $from $left 10Gb 1ms 10000
wire $left $right 1Gb 1ms 1000
wire $right $to 10Gb 1ms 10000

set idle {}
set ended 0
# ns-2 calls this when all that was given to an agent is acknowledged.
Agent/TCP instproc done {} {
    global idle ended
    incr ended
    lappend idle $self
}
proc pair {} {
    global from to sink_of
    lassign [connection Newreno $from $to] sender sink
    set sink_of($sender) $sink
    return $sender
}
proc arrive {} {
    global sim draw rate segments idle sink_of
    if {[llength $idle] == 0} {
        set sender [pair]
    } else {
        set sender [lindex $idle end]
        set idle [lrange $idle 0 end-1]
        $sender reset
        $sink_of($sender) reset
    }
    $sender advanceby $segments
    $sim at [expr {[$sim now] + [$draw exponential] / $rate}] arrive
}
proc finish {} {
    global ended segments
    puts "acked [expr {$ended * $segments}]"
    exit 0
}
$sim at 0.0 arrive
$sim at $seconds finish
$sim run
