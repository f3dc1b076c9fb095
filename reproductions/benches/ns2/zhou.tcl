# The network of Zhou et al. 2004 for ns-2.35:
# ns zhou.tcl AGENT MECHANISM LOSS SEED SECONDS [HEADERS SCHEDULER ACKS ERA [STARTS]]
#   AGENT      Tahoe, Reno, Newreno, Vegas or Sack1
#   MECHANISM  none, snoop, eln or both; "wires": none, and wires alone
#   LOSS       share of the packets that the wireless link loses
#   HEADERS    "all": packets carry the headers of everything that ns-2 knows, its default; "few": those needed
#   SCHEDULER  event queue; Calendar is the default of ns-2
#   ACKS       "lossy": acknowledgements are lost, too
#   ERA        "2003": defaults of TCP at that time
#   STARTS     start times of the flows, by default 0.1 s apart
# Prints "acked N N N N N", the last segment of each flow that is acknowledged.
#
# ns-2 has Snoop as a link layer of a LAN only. So there are two LANs of 1 Gbit/s, before and behind the wireless link.
# Its marks of lost data are made for data that come in from the wireless side; a second Snoop behind the link makes
# them.
#
# A LAN cannot be made without a file for traces, and what is made after it is named is traced, at ten times the cost of
# the rest. So wires come first, and with "wires" there is no LAN.
set defaults {- none 0 1 100 all Calendar - - {0 0.1 0.2 0.3 0.4}}
foreach {agent mechanism loss seed seconds headers scheduler acks era starts} \
    [concat $argv [lrange $defaults [llength $argv] end]] break
set flows 5

source [file join [file dirname [info script]] wires.tcl]
carry $headers [expr {$mechanism eq "wires" ? "" : "LL Mac ARP Snoop"}]
foreach layer {LL LL/LLSnoop} {
    $layer set delay_ 0
    $layer set mindelay_ 0
}
# The rate given to a LAN does not reach the class Mac.
Mac set bandwidth_ 1Gb
if {$era eq "2003"} {
    foreach {name value} {minrto_ 1.0 rtxcur_init_ 6.0 maxrto_ 100000 updated_rttvar_ false precisionReduce_ false
                          bugfix_ss_ 0} {
        Agent/TCP set $name $value
    }
    Agent/TCP/Newreno set newreno_changes1_ 0
    Agent/TCP/Newreno set partial_window_deflation_ 0
}

set sim [new Simulator]
$sim use-scheduler $scheduler
$defaultRNG seed $seed

proc lan {plain other layer} {
    global sim
    set made [$sim make-lan $plain 1Gb 0ms LL Queue/DropTail Mac]
    $made addNode $other 1Gb 0ms $layer Queue/DropTail Mac
}
# A packet that is lost has been sent.
proc lossy {from to share} {
    global sim
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $share
    set draw [new RandomVariable/Uniform]
    $draw set min_ 0
    $draw set max_ 1
    $model ranvar $draw
    $sim link-lossmodel $model $from $to
    $model drop-target [new Agent/Null]
}

foreach name {edge core base near far point} { set $name [$sim node] }
if {$mechanism eq "wires"} {
    set near $base
    set far $point
}
for {set i 0} {$i < $flows} {incr i} {
    set fixed($i) [$sim node]
    set mobile($i) [$sim node]
    wire $fixed($i) $edge 10Mb 2ms 1000
    wire $point $mobile($i) 100Mb 0ms 1000
}
wire $edge $core 10Mb 10ms 1000
wire $core $base 10Mb 10ms 1000
wire $near $far 2Mb 4ms 50
if {$mechanism ne "wires"} {
    $sim trace-all [open /dev/null w]
    lan $near $base [expr {$mechanism in {snoop both} ? "LL/LLSnoop" : "LL"}]
    lan $far $point [expr {$mechanism in {eln both} ? "LL/LLSnoop" : "LL"}]
}
lossy $near $far $loss
lossy $far $near [expr {$acks eq "lossy" ? $loss : 0}]

for {set i 0} {$i < $flows} {incr i} {
    set sender($i) [new Agent/TCP[expr {$agent eq "Tahoe" ? "" : "/$agent"}]]
    set sink [new Agent/TCPSink[expr {$agent eq "Sack1" ? "/Sack1" : ""}]]
    $sender($i) set packetSize_ 1000
    $sender($i) set window_ 10
    $sender($i) set fid_ $i
    if {$mechanism in {eln both}} {
        $sender($i) set eln_ 1
        $sender($i) set eln_rxmit_thresh_ 1
    }
    $sim attach-agent $fixed($i) $sender($i)
    $sim attach-agent $mobile($i) $sink
    $sim connect $sender($i) $sink
    set transfer [new Application/FTP]
    $transfer attach-agent $sender($i)
    $sim at [lindex $starts $i] "$transfer start"
}

proc finish {} {
    global flows sender
    set acked acked
    for {set i 0} {$i < $flows} {incr i} { lappend acked [$sender($i) set ack_] }
    puts $acked
    exit 0
}
$sim at $seconds finish
$sim run
