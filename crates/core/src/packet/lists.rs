//! Lists that packets carry; their memory is reused.

/// Entries for which a list has room at first.
const ROOM: usize = 32;

/// Lists of one kind, by index.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    lists: Vec<Vec<T>>,
    free: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Lists<T> {
        Lists { lists: Vec::new(), free: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// This number of free lists.
    pub(super) fn with_room(count: u32) -> Lists<T> {
        Lists { lists: (0..count).map(|_| Vec::with_capacity(ROOM)).collect(), free: (0..count).collect() }
    }

    /// Creates an empty list; the first one together with those that a busy network needs.
    pub(super) fn create(&mut self) -> u32 {
        if self.lists.is_empty() {
            *self = Lists::with_room(64);
        }
        self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::with_capacity(ROOM));
            self.lists.len() as u32 - 1
        })
    }

    pub(super) fn get(&self, id: u32) -> &[T] {
        &self.lists[id as usize]
    }

    pub(super) fn get_mut(&mut self, id: u32) -> &mut Vec<T> {
        &mut self.lists[id as usize]
    }

    /// Creates a list with the contents of another.
    pub(super) fn copy(&mut self, of: u32) -> u32 {
        let fresh = self.create();
        let mut own = std::mem::take(&mut self.lists[fresh as usize]);
        own.extend_from_slice(&self.lists[of as usize]);
        self.lists[fresh as usize] = own;
        fresh
    }

    /// Frees a list that no packet carries.
    pub(super) fn free(&mut self, id: u32) {
        self.lists[id as usize].clear();
        self.free.push(id);
    }
}
