# Nodes and flows from files under stock ns-2.35, for the experiment of docs/validation.md.
# ns states.tcl NODES FLOWS RATE TRANSPORT ALPHA INTERVAL PACKETS BATCHES SEED
# NODES and FLOWS are CSV files (node,x,y and flow,source,destination), TRANSPORT is Udp, Newreno or Vegas, INTERVAL the
# time between datagrams [ms]. Prints the goodput of each flow [kbit/s] in each batch: RESULT BATCH FLOW FLOW ...

lassign $argv nodes flows rate transport alpha interval packets batches seed

proc rows {file} {
    set in [open $file]
    set found {}
    foreach line [lrange [split [string trim [read $in]] "\n"] 1 end] { lappend found [split $line ","] }
    close $in
    return $found
}
set places [rows $nodes]
set pairs [rows $flows]

set ns [new Simulator]
$defaultRNG seed $seed
remove-all-packet-headers
add-packet-header IP TCP RTP LL Mac ARP AODV Common Flags
$ns trace-all [open /dev/null w]
set topography [new Topography]
$topography load_flatgrid 10000 2000
create-god [llength $places]

source [file join [file dirname [info script]] radio.tcl]
foreach place $places {
    lassign $place i x y
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {50.0 + $x}]
    $node($i) set Y_ [expr {50.0 + $y}]
    $node($i) set Z_ 0.0
}

foreach pair $pairs {
    lassign $pair f from to
    if {$transport eq "Udp"} {
        set sender [new Agent/UDP]
        $sender set packetSize_ 1460
        set receiver($f) [new Agent/LossMonitor]
        set source [new Application/Traffic/CBR]
        $source set packetSize_ 1460
        $source set interval_ [expr {$interval / 1000.0}]
        $source set random_ 0
    } else {
        set sender [new Agent/TCP/$transport]
        $sender set packetSize_ 1460
        $sender set window_ 64
        $sender set windowInit_ 1
        if {$transport eq "Vegas"} { foreach name {v_alpha_ v_beta_ v_gamma_} { $sender set $name $alpha } }
        set receiver($f) [new Agent/TCPSink]
        set source [new Application/FTP]
    }
    $ns attach-agent $node($from) $sender
    $ns attach-agent $node($to) $receiver($f)
    $ns connect $sender $receiver($f)
    $source attach-agent $sender
    $ns at [expr {1.0 + $f}] "$source start"
    set before($f) 0
}

# The header of 40 bytes is part of what the sink counts, except for Vegas, which sends none.
set size [expr {$transport eq "Newreno" ? 1500 : 1460}]
proc delivered {f} {
    global receiver transport size
    if {$transport eq "Udp"} { return [$receiver($f) set npkts_] }
    return [expr {[$receiver($f) set bytes_] / double($size)}]
}

set batch 0
set begun 0.0
proc look {} {
    global ns pairs packets batches batch begun before
    set now [$ns now]
    set sum 0
    foreach pair $pairs {
        set f [lindex $pair 0]
        set got($f) [delivered $f]
        set sum [expr {$sum + $got($f)}]
    }
    if {$sum >= $packets * ($batch + 1.0) / $batches} {
        set line {}
        foreach pair $pairs {
            set f [lindex $pair 0]
            lappend line [format %.4f [expr {($got($f) - $before($f)) * 1460 * 8 / ($now - $begun) / 1000}]]
            set before($f) $got($f)
        }
        puts "RESULT $batch $line"
        set begun $now
        incr batch
        if {$batch >= $batches} { exit 0 }
    }
    $ns at [expr {$now + 0.5}] look
}
$ns at 0.5 look
$ns run
