# Procedures that all benches of ns-2 share.

# "few": packets carry the headers that a bench needs, not those of everything that ns-2 knows. This has an effect only
# before there is a simulator.
proc carry {headers more} {
    if {$headers eq "few"} {
        remove-all-packet-headers
        add-packet-header Common Flags IP TCP {*}$more
    }
}

# A sender of 1460 B segments with a window of 64, and its sink.
proc connection {agent from to} {
    global sim
    set sender [new Agent/TCP/$agent]
    $sender set packetSize_ 1460
    $sender set window_ 64
    $sender set windowInit_ 1
    set sink [new Agent/TCPSink]
    $sim attach-agent $from $sender
    $sim attach-agent $to $sink
    $sim connect $sender $sink
    return [list $sender $sink]
}

# A sender of a connection that always has data, from an instant on.
proc start_transfer {sender start} {
    global sim
    set transfer [new Application/FTP]
    $transfer attach-agent $sender
    $sim at $start "$transfer start"
}

# Segments of connections that are acknowledged.
proc acked {senders} {
    set acked 0
    foreach sender $senders {
        incr acked [expr {[$sender set ack_] + 1}]
    }
    return $acked
}
