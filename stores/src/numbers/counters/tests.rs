use snowmint_core::ErrorKind;
use snowmint_core::segment::LAST;

use super::*;
use crate::engines::memory::Memory;

async fn key(store: &Arc<dyn CounterStore>) -> Key {
    Key::open(Arc::clone(store), "k", 10, SegmentsOptions::default()).await.expect("a key")
}

#[tokio::test]
async fn a_key_counts_from_1_and_never_goes_back() {
    let store: Arc<dyn CounterStore> = Memory::named("");
    assert_eq!(Key::exists(&*store, "k").await, Ok(false));
    let first = key(&store).await;
    assert_eq!(first.last().await, Ok(0));
    assert_eq!((first.next().await, first.next().await), (Ok(1), Ok(2)));
    assert_eq!(first.last().await, Ok(2));
    assert_eq!(Key::exists(&*store, "k").await, Ok(true));
    first.close().await.expect("closed");
    let second = key(&store).await;
    assert_eq!(second.next().await, Ok(3), "the numbers of the first one came back");
    assert_eq!((Key::delete(&*store, "k").await, Key::delete(&*store, "k").await), (Ok(true), Ok(false)));
    assert_eq!(Key::exists(&*store, "k").await, Ok(false));
    let after = key(&store).await.next().await.expect("a number");
    assert!(after > second.last().await.expect("it has one"), "{after} after it was deleted");
    let error = Key::raise(&*store, "k", 1).await.expect_err("it is above").to_string();
    assert!(error.contains("already, and its numbers never go back: nothing is set"), "{error}");
    let mark = Key::mark(&*store, "k").await.expect("read").expect("it exists");
    assert_eq!(Key::raise(&*store, "k", mark).await, Ok(()), "it is there");
    assert!(key(&store).await.next().await.expect("a number") > after);
    Key::raise(&*store, "k", 5000).await.expect("raised");
    assert_eq!(key(&store).await.next().await, Ok(5001));
}

#[tokio::test]
async fn a_close_during_a_fetch_leaves_no_gap() {
    let store: Arc<dyn CounterStore> = Memory::named("");
    for number in (1..500).step_by(2) {
        let key = key(&store).await;
        assert_eq!(key.next().await, Ok(number));
        // The second number of an opening begins the fetch of the next range.
        assert_eq!(key.next().await, Ok(number + 1));
        key.close().await.expect("closed");
    }
}

#[tokio::test]
async fn blocks_are_whole_and_numbers_after_them_higher() {
    let store: Arc<dyn CounterStore> = Memory::named("");
    let key = key(&store).await;
    let mut last = 0;
    for count in [1, 7, 9, 10, 11, 100, 3, 5000, 1, 100_000, 2] {
        let block = key.next_block(count).await.expect("a block");
        assert_eq!(block.end - block.start, count);
        assert!(block.start > last, "{block:?} after {last}");
        let next = key.next().await.expect("a number");
        assert!(next >= block.end, "{next} after {block:?}");
        last = next;
    }
}

#[tokio::test]
async fn an_operator_lowers_a_key_that_was_raised_by_mistake() {
    let store: Arc<dyn CounterStore> = Memory::named("");
    assert_eq!(Key::lower(&*store, "k", 0).await.expect_err("no key").kind(), ErrorKind::InvalidId);
    Key::raise(&*store, "k", LAST - 1).await.expect("the end");
    assert_eq!(key(&store).await.next().await.expect_err("at its end").kind(), ErrorKind::Exhausted);
    assert_eq!(Key::lower(&*store, "k", 17).await, Ok(LAST - 1));
    assert_eq!(key(&store).await.next().await, Ok(18));
    let mark = Key::mark(&*store, "k").await.expect("read").expect("it exists");
    assert_eq!(Key::lower(&*store, "k", mark).await.expect_err("not above").kind(), ErrorKind::InvalidId);
    Key::delete(&*store, "k").await.expect("deleted");
    assert_eq!(Key::existing(&*store).await, Ok(Vec::new()));
    assert_eq!(Key::lower(&*store, "k", 3).await, Ok(mark));
    assert_eq!(key(&store).await.next().await, Ok(4));
    assert_eq!(Key::existing(&*store).await, Ok(vec!["k".to_owned()]));
}

#[tokio::test]
async fn wrong_names_and_values_are_refused() {
    let store: Arc<dyn CounterStore> = Memory::named("");
    let long = "x".repeat(129);
    for name in ["", &long] {
        assert_eq!(Key::exists(&*store, name).await.expect_err("no name").kind(), ErrorKind::InvalidText);
    }
    let error = Key::raise(&*store, "k", LAST).await.expect_err("too high");
    assert_eq!(error.kind(), ErrorKind::InvalidId);
    Key::raise(&*store, "k", LAST - 1).await.expect("the last one");
    let key = key(&store).await;
    assert_eq!(key.next().await.expect_err("at its end").kind(), ErrorKind::Exhausted);
    assert_eq!(key.next_block(5).await.expect_err("at its end").kind(), ErrorKind::Exhausted);
}
