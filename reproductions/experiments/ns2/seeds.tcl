# A chain under stock ns-2.35, for the experiment of docs/validation.md.
# ns seeds.tcl HOPS RATE AGENT SINK ALPHA WINDOW BYTES PACKETS SEED
# prints goodput [kbit/s], retransmissions and timeouts per 10,000 delivered packets, and the mean window, after the
# first eleventh of the run.

lassign $argv hops rate agent sink alpha window bytes packets seed

set ns [new Simulator]
$defaultRNG seed $seed
remove-all-packet-headers
add-packet-header IP TCP LL Mac ARP AODV Common Flags
$ns trace-all [open /dev/null w]
set topography [new Topography]
$topography load_flatgrid [expr {200 * $hops + 200}] 200
create-god [expr {$hops + 1}]

source [file join [file dirname [info script]] radio.tcl]
for {set i 0} {$i <= $hops} {incr i} {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {50.0 + 200.0 * $i}]
    $node($i) set Y_ 50.0
    $node($i) set Z_ 0.0
}

set sender [new Agent/TCP$agent]
$sender set packetSize_ $bytes
$sender set window_ $window
$sender set windowInit_ 1
if {$agent eq "/Vegas"} {
    foreach name {v_alpha_ v_beta_ v_gamma_} { $sender set $name $alpha }
}
set receiver [new Agent/TCPSink$sink]
$ns attach-agent $node(0) $sender
$ns attach-agent $node($hops) $receiver
$ns connect $sender $receiver
set transfer [new Application/FTP]
$transfer attach-agent $sender
$ns at 1.0 "$transfer start"

# The header of 40 bytes is part of what the sink counts, except for Vegas, which sends none.
set size [expr {$agent eq "/Vegas" ? $bytes : $bytes + 40}]
set begun 0
set windows 0.0
set samples 0

proc look {} {
    global ns sender receiver size packets begun windows samples window first
    set now [$ns now]
    set delivered [expr {[$receiver set bytes_] / double($size)}]
    if {$begun} {
        set windows [expr {$windows + min([$sender set cwnd_], $window)}]
        incr samples
    } elseif {$delivered >= $packets / 11.0} {
        set begun 1
        set first [list $now $delivered [$sender set nrexmitpack_] [$sender set nrexmit_]]
    }
    if {$delivered >= $packets} {
        lassign $first t d r o
        set got [expr {$delivered - $d}]
        puts [format "RESULT %.3f %.3f %.3f %.4f" [expr {$got * 1460 * 8 / ($now - $t) / 1000}] \
            [expr {([$sender set nrexmitpack_] - $r) / $got * 1e4}] \
            [expr {([$sender set nrexmit_] - $o) / $got * 1e4}] [expr {$windows / $samples}]]
        exit 0
    }
    $ns at [expr {$now + 0.5}] look
}
$ns at 0.5 look
$ns run
