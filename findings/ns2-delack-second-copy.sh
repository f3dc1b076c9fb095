#!/bin/sh
# ns-2: a receiver that delays acknowledgements holds that of a second copy
#
# Behavior: `Agent/TCPSink/DelAck` treats a second copy of the last segment in order as new data: it waits for another
#   segment or 100 ms before it acknowledges. A sender whose acknowledgement was lost hears 100 ms later than it could.
# Guess: it acknowledges a segment that it has already got at once, as RFC 5681, section 4.2, and RFC 9293, section
#   3.10.7.4, say of segments that are not the next one.
# Package: ns2 2.35+dfsg-5 (Debian 12), with tcl8.6, libtcl8.6 8.6.13+dfsg-2, libotcl1 1.14+dfsg-8, libtclcl1 1.20-10
# Date: 2026-11-29
# Why it matters: a simulator that follows the RFCs differs from ns-2 after each loss of an acknowledgement; over lossy
#   return paths that is a round of timeouts with another phase. Runs are compared packet by packet only with this rule.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq ns2=2.35+dfsg-5 libtcl8.6=8.6.13+dfsg-2 libotcl1=1.14+dfsg-8 libtclcl1=1.20-10 \
    tcl8.6=8.6.13+dfsg-2 >download.log 2>&1 || { cat download.log >&2; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
library=$work/$(dirname "$(find root/usr/lib -name 'libtcl8.6.so*' -print -quit)")
cat >copy.tcl <<'TCL'
# A window of one segment; the third acknowledgement is lost, so that segment 2 comes twice.
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 1Mb 10ms DropTail
set lost [new ErrorModel/List]
$lost droplist {2}
$lost drop-target [new Agent/Null]
$ns link-lossmodel $lost $b $a
set source [new Agent/TCP/Newreno]
$source set window_ 1
set sink [new Agent/TCPSink/DelAck]
$ns attach-agent $a $source
$ns attach-agent $b $sink
$ns connect $source $sink
set ftp [new Application/FTP]
$ftp attach-agent $source
set trace [open trace.txt w]
$ns trace-queue $a $b $trace
$ns trace-queue $b $a $trace
$ns at 0.0 "$ftp start"
$ns at 6.0 "close $trace; exit 0"
$ns run
TCL
LD_LIBRARY_PATH=$library TCL_LIBRARY=$work/root/usr/share/tcltk/tcl8.6 root/usr/bin/ns copy.tcl
# Time from the arrival of each copy of segment 2 to the acknowledgement that follows.
awk '$1 == "r" && $5 == "tcp" && $11 == 2 { came = $2; copies++ }
     $1 == "+" && $5 == "ack" && $11 == 2 && came { printf "copy %d of segment 2: acknowledged after %.0f ms\n", copies, 1000 * ($2 - came); came = 0 }' \
    trace.txt | tee seen.txt
cat >expected.txt <<'TEXT'
copy 1 of segment 2: acknowledged after 100 ms
copy 2 of segment 2: acknowledged after 100 ms
TEXT
cmp -s seen.txt expected.txt || { echo "this has changed; it was:"; cat expected.txt; exit 1; }
