//! The allocator under many sizes and orders, and an engine that runs on it.

use proptest::prelude::*;
use rquickjs::allocator::Allocator as _;

use super::{spans::SizeClass, *};

#[test]
fn blocks_have_the_next_size_up() {
    let check = |size: usize, expected: Option<usize>| {
        assert_eq!(
            SizeClass::of(size).map(SizeClass::block_bytes),
            expected,
            "{size}"
        );
    };
    check(0, Some(8));
    check(1, Some(8));
    check(8, Some(8));
    check(9, Some(16));
    check(504, Some(504));
    check(512, Some(512));
    check(513, Some(576));
    check(576, Some(576));
    check(577, Some(640));
    check(1024, Some(1024));
    check(1025, Some(1152));
    check(4097, Some(4608));
    check(32 << 10, Some(32 << 10));
    check((32 << 10) + 1, None);
    check(usize::MAX, None);
}

#[test]
fn every_size_is_held_with_an_eighth_unused_at_most() {
    for size in 1..=32 << 10 {
        let block = SizeClass::of(size).expect("it is small enough").block_bytes();
        assert!(block >= size && block.is_multiple_of(8), "{size} in {block}");
        assert!(block - size < 8.max(size / 8), "{size} in {block}");
        assert_eq!(SizeClass::of(block), SizeClass::of(size), "{size} in {block}");
    }
}

/// A block with what was written into it.
struct Held {
    heap: usize,
    block: *mut u8,
    size: usize,
    mark: u8,
}

/// Heaps of one thread, and what they hold.
struct Model {
    heaps: [Heap; 2],
    held: Vec<Held>,
    marks: u8,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Take { heap: usize, size: usize },
    TakeZeroed { heap: usize, size: usize },
    Resize { which: usize, size: usize },
    GiveBack { which: usize },
}

impl Model {
    fn new() -> Self {
        Self {
            heaps: [Heap::of_thread(), Heap::of_thread()],
            held: Vec::new(),
            marks: 0,
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Take { heap, size } => {
                let block = self.heaps[heap].alloc(size);
                self.hold(heap, block, size);
            }
            Step::TakeZeroed { heap, size } => {
                let block = self.heaps[heap].calloc(1, size);
                assert!(bytes(block, size).iter().all(|byte| *byte == 0));
                self.hold(heap, block, size);
            }
            Step::Resize { which, size } if !self.held.is_empty() => {
                let held = self.release(which);
                // SAFETY: the block is that heap's and in use.
                let block = unsafe { self.heaps[held.heap].realloc(held.block, size) };
                let kept = bytes(block, size.min(held.size));
                assert!(kept.iter().all(|byte| *byte == held.mark));
                self.hold(held.heap, block, size);
            }
            Step::GiveBack { which } if !self.held.is_empty() => {
                let held = self.release(which);
                // SAFETY: the block is that heap's and in use.
                unsafe { self.heaps[held.heap].dealloc(held.block) };
            }
            Step::Resize { .. } | Step::GiveBack { .. } => {}
        }
    }

    fn hold(&mut self, heap: usize, block: *mut u8, size: usize) {
        assert!(!block.is_null() && block.addr().is_multiple_of(8));
        // SAFETY: the block is in use.
        assert!(unsafe { Heap::usable_size(block) } >= size);
        self.marks = self.marks.wrapping_add(1);
        let mark = self.marks;
        // SAFETY: the block has that many bytes.
        unsafe { block.write_bytes(mark, size) };
        self.held.push(Held {
            heap,
            block,
            size,
            mark,
        });
    }

    /// Takes a block out of the model, after a check that its bytes are unchanged.
    fn release(&mut self, which: usize) -> Held {
        let held = self.held.swap_remove(which % self.held.len());
        assert!(bytes(held.block, held.size).iter().all(|byte| *byte == held.mark));
        held
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        for held in self.held.drain(..) {
            // SAFETY: the block is that heap's and in use.
            unsafe { self.heaps[held.heap].dealloc(held.block) };
        }
    }
}

fn bytes<'a>(block: *mut u8, size: usize) -> &'a [u8] {
    // SAFETY: the tests ask for initialized bytes of blocks in use.
    unsafe { std::slice::from_raw_parts(block, size) }
}

fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..600_usize, 2 => 0..5_000_usize, 1 => 0..80_000_usize]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2_usize, size()).prop_map(|(heap, size)| Step::Take { heap, size }),
        1 => (0..2_usize, size()).prop_map(|(heap, size)| Step::TakeZeroed { heap, size }),
        2 => (any::<usize>(), size()).prop_map(|(which, size)| Step::Resize { which, size }),
        3 => any::<usize>().prop_map(|which| Step::GiveBack { which }),
    ]
}

proptest! {
    #[test]
    fn blocks_are_apart_and_keep_what_is_in_them(steps in prop::collection::vec(step(), 1..500)) {
        let mut model = Model::new();
        for step in steps {
            model.run(step);
        }
    }
}

#[test]
fn spans_fill_up_and_are_given_back() {
    let mut model = Model::new();
    // Enough for several spans of each size.
    for size in [8, 56, 512, 4_096, 32 << 10] {
        for _ in 0..(1 << 20) / size {
            model.run(Step::Take { heap: 0, size });
        }
    }
    while !model.held.is_empty() {
        model.run(Step::GiveBack { which: 7 });
    }
}

#[test]
fn what_one_heap_gives_back_another_one_of_the_thread_takes() {
    let (mut one, mut other) = (Heap::of_thread(), Heap::of_thread());
    let block = one.alloc(100);
    // SAFETY: the block is that heap's and in use.
    unsafe { one.dealloc(block) };
    let again = other.alloc(97);
    assert_eq!(again, block);
    // SAFETY: the block belongs to `other` and is in use.
    unsafe { other.dealloc(again) };
}

#[test]
fn more_than_there_is_gives_null() {
    let mut heap = Heap::of_thread();
    assert!(heap.alloc(usize::MAX).is_null());
    assert!(heap.calloc(usize::MAX, 2).is_null());
    let block = heap.alloc(10);
    // SAFETY: the block is that heap's and in use; it stays when there is no room for a larger one.
    unsafe {
        assert!(heap.realloc(block, usize::MAX / 2).is_null());
        heap.dealloc(block);
    }
}

/// The sizes of the blocks that a runtime asks for.
struct Sizes(Heap, Rc<RefCell<Vec<usize>>>);

// SAFETY: `Heap` does it.
unsafe impl Allocator for Sizes {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        self.1.borrow_mut().push(size);
        self.0.alloc(size)
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        self.0.calloc(count, size)
    }

    unsafe fn dealloc(&mut self, block: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { self.0.dealloc(block) };
    }

    unsafe fn realloc(&mut self, block: *mut u8, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { self.0.realloc(block, new_size) }
    }

    unsafe fn usable_size(block: *mut u8) -> usize {
        // SAFETY: the caller's promise.
        unsafe { Heap::usable_size(block) }
    }
}

#[test]
fn the_engine_is_built_without_pages_of_its_own() {
    let sizes = Rc::<RefCell<Vec<usize>>>::default();
    let runtime = rquickjs::Runtime::new_with_alloc(Sizes(Heap::of_thread(), Rc::clone(&sizes)));
    let runtime = runtime.expect("there is memory for a runtime");
    let context = rquickjs::Context::full(&runtime).expect("there is memory for a context");
    let small = sizes.borrow().iter().filter(|size| **size < 500).count();
    assert!(
        small > 100,
        "the engine asks for pages of blocks, which takes 60 KB more per virtual user: is it not the one of \
         vendor/rquickjs-sys? it asked for {:?}",
        sizes.borrow()
    );
    drop((context, runtime));
}
