//! Counters of a flow. Each end of a connection counts its share of both lists, and the flow has the sum of the two.

use crate::counters;

counters! {
    /// Counters of a flow; each is a column of `flows`.
    pub struct Counters {
        /// Packets handed to the application in order, the SYN not counted (UDP: datagrams that arrived, each once).
        packets_delivered,
        /// Payload of the delivered packets \[B\]; filled in when totals are read.
        bytes_delivered,
        /// Packets sent by the source, the SYN and retransmissions included.
        packets_sent,
        /// Segments sent that had been sent before.
        retransmissions: tcp,
        /// Probes sent: headers without data after a timeout, which are no packets sent here, and segments of a sender
        /// in standby.
        probes_sent: tcp,
        /// Expirations of the retransmission timer with data outstanding.
        timeouts: tcp,
        /// Timeouts that leave ssthresh alone, because an ECE has cut ssthresh before.
        timeouts_after_ecn_cut: tcp,
        /// Retransmissions after duplicate acknowledgements that began a recovery.
        fast_retransmits: tcp,
        /// Cuts of the window because of ECE.
        ecn_cuts: tcp,
        /// Segments that arrived with CE.
        marks_received: tcp,
        /// Packets of which the source knows that they have arrived; filled in when totals are read.
        packets_acked: tcp,
        /// Acknowledgements received.
        tcp_acks_received: tcp,
        /// Packets that had arrived before.
        duplicates_received,
        /// Packets that arrived, every copy and the SYN.
        copies_received,
    }
}

counters! {
    /// Sums over a flow, from which tables have means.
    pub struct Sums {
        /// Round-trip times measured.
        rtt_samples: tcp,
        /// Sum of the round-trip times \[ns\].
        rtt_ns,
        /// One-way delays measured: packets that arrived and were no duplicates.
        delay_samples,
        /// Sum of the one-way delays \[ns\].
        delay_ns,
        /// Sum of the one-way delays of all copies that arrived \[ns\].
        copies_delay_ns,
        /// Sum of the hops of all copies that arrived.
        copies_hops,
        /// Time for which the window was observed \[ns\].
        window_ns,
    }
}
