//! Counts of failed attempts (IEEE 802.11-2020, 10.3.3 and 10.3.4.4).

use super::Config;

/// Retry count to which an attempt belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// An RTS, or a frame not above the RTS threshold.
    Short,
    /// A frame above the RTS threshold.
    Long,
}

/// Failed attempts: SRC and LRC of an MPDU, SSRC and SLRC of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retries([u32; 2]);

impl Retries {
    /// Counts a failed attempt. Returns true if the count has reached its limit; it then begins anew. The standard
    /// resets no count there, but without a reset a station would reset its CW at the limit only once.
    pub fn fail(&mut self, attempt: Attempt, rules: &Config) -> bool {
        let count = &mut self.0[attempt as usize];
        let limit = [rules.short_retry_limit, rules.long_retry_limit][attempt as usize];
        *count += 1;
        let reached = limit.is_some_and(|limit| *count >= limit);
        if reached {
            *count = 0;
        }
        reached
    }

    /// The count of failed attempts.
    pub fn count(&self, attempt: Attempt) -> u32 {
        self.0[attempt as usize]
    }

    /// Resets the count after a success.
    pub fn succeed(&mut self, attempt: Attempt) {
        self.0[attempt as usize] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_is_reset_at_its_limit() {
        let rules = Config { short_retry_limit: Some(3), long_retry_limit: None, ..Config::default() };
        let mut retries = Retries::default();
        let short: Vec<bool> = (0..7).map(|_| retries.fail(Attempt::Short, &rules)).collect();
        assert_eq!(short, [false, false, true, false, false, true, false]);
        assert!((0..1000).all(|_| !retries.fail(Attempt::Long, &rules)), "unlimited");
        retries.succeed(Attempt::Long);
        assert_eq!(retries, Retries([1, 0]));
    }
}
