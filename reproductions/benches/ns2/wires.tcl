# Procedures of the benches over wires.
source [file join [file dirname [info script]] .. .. .. benches ns2.tcl]

proc wire {from to rate delay limit} {
    global sim
    $sim duplex-link $from $to $rate $delay DropTail
    $sim queue-limit $from $to $limit
    $sim queue-limit $to $from $limit
}
