//! Transmit qualities (TQ), in the integers of batman-adv.

/// Largest transmit quality: nothing is lost.
pub(in crate::net::routing) const MAX: u8 = 255;
/// Messages that are counted for a link.
pub(in crate::net::routing) const WINDOW: u32 = 64;
/// Qualities of which the average is taken.
const RECENT: usize = 5;

/// Quality of a way that begins with a link and goes on with the quality `tq`. `echoed`: own messages that the neighbor
/// has repeated; `heard`: messages of the neighbor. Both are of the last [`WINDOW`]. `penalty`: of the interface.
pub(in crate::net::routing) fn over(tq: u8, echoed: u32, heard: u32, penalty: u8) -> u8 {
    if echoed == 0 || heard == 0 {
        return 0;
    }
    let max = u32::from(MAX);
    let own = max * echoed.min(heard) / heard;
    let asymmetry = max - max * (WINDOW - heard).pow(3) / WINDOW.pow(3);
    (u32::from(tq) * own * asymmetry * (max - u32::from(penalty)) / max.pow(3)) as u8
}

/// Quality behind a hop.
pub(in crate::net::routing) fn lowered(tq: u8, penalty: u8) -> u8 {
    (u32::from(tq) * u32::from(MAX - penalty) / u32::from(MAX)) as u8
}

/// The last qualities of a way, 0 for a message that did not come over it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    last: [u8; RECENT],
    next: u8,
}

impl Recent {
    /// Adds a quality; returns the average of those that are not 0.
    pub(super) fn add(&mut self, tq: u8) -> u8 {
        self.last[usize::from(self.next)] = tq;
        self.next = (self.next + 1) % RECENT as u8;
        let sum: u32 = self.last.iter().map(|&tq| u32::from(tq)).sum();
        let count = self.last.iter().filter(|&&tq| tq > 0).count() as u32;
        sum.checked_div(count).unwrap_or(0) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_counts_echoes_of_what_it_hears_and_much_more_if_it_hears_little() {
        let tq = |(echoed, heard)| over(MAX, echoed, heard, 0);
        assert_eq!([(64, 64), (46, 58), (32, 64), (32, 32), (16, 32), (8, 8)].map(tq), [255, 202, 127, 224, 111, 85]);
        // More echoes than messages that were heard are no better; without either there is no link.
        assert_eq!([(64, 32), (0, 64), (64, 0)].map(tq), [224, 0, 0]);
    }

    /// Qualities after 1 to 6 hops, which all leave by a radio with this penalty beside that of the hop.
    fn chain(links: &[(u32, u32)], hop: u8, radio: u8) -> Vec<u8> {
        let mut told = MAX;
        let step = |&(echoed, heard): &(u32, u32)| {
            let own = over(told, echoed, heard, 0);
            told = lowered(over(told, echoed, heard, radio), hop);
            own
        };
        links.iter().map(step).collect()
    }

    #[test]
    fn quality_falls_with_every_hop() {
        let perfect = [(64, 64); 6];
        assert_eq!(chain(&perfect, 30, 30), [255, 198, 153, 119, 92, 71]);
        assert_eq!(chain(&perfect, 15, 15), [255, 225, 198, 175, 154, 135]);
        // Over two radios in turn there is the penalty of the hop alone.
        assert_eq!(chain(&perfect, 30, 0), [255, 225, 198, 174, 153, 135]);
        assert_eq!(chain(&[(46, 58); 2], 30, 30), [202, 124]);
    }

    #[test]
    fn the_average_leaves_out_messages_that_did_not_come() {
        let mut recent = Recent::default();
        assert_eq!([200, 0, 101].map(|tq| recent.add(tq)), [200, 200, 150]);
        assert_eq!([0, 0, 0, 0, 0].map(|tq| recent.add(tq)), [150, 150, 101, 101, 0]);
    }
}
