//! The promises of a pool about its names.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicI32, AtomicUsize};
use std::task::Poll;
use std::time::Duration;

use snowmint_stores::host::lock;
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::*;

impl Pooled for i32 {
    async fn give_back(self: Arc<Self>) {}
}

async fn put(pool: &Arc<Pool<i32>>, name: &str, value: i32) -> Vec<i32> {
    let (_, surplus) = pool.lock(name).await.put(value).expect("the pool is open");
    surplus.into_iter().map(|(_, value)| *value).collect()
}

#[tokio::test]
async fn a_name_is_opened_once() {
    let (pool, opened) = (Pool::new(9, Vec::new()), Arc::new(AtomicUsize::new(0)));
    let opening = || {
        let opened = Arc::clone(&opened);
        async move {
            opened.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_millis(20)).await;
            Ok(7)
        }
    };
    let (first, second) = tokio::join!(pool.open("a", opening()), pool.open("a", opening()));
    assert!(Arc::ptr_eq(&first.expect("a value"), &second.expect("a value")));
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    pool.close().await;
    let refused = pool.open("a", opening()).await.expect_err("the pool is closed");
    assert_eq!((refused.kind(), opened.load(Ordering::Relaxed)), (ErrorKind::WindowClosed, 1));
}

#[tokio::test]
async fn a_value_whose_caller_gave_up_is_kept_for_the_next_one() {
    let pool = Pool::new(9, Vec::new());
    let (go, gone) = tokio::sync::oneshot::channel::<()>();
    let opening = async move {
        drop(gone.await);
        Ok(7)
    };
    assert!(timeout(Duration::from_millis(20), pool.open("a", opening)).await.is_err());
    drop(go);
    assert_eq!(pool.open("a", async { Ok(8) }).await.as_deref(), Ok(&7));
}

#[tokio::test]
async fn a_call_on_a_value_given_back_is_repeated() {
    let (pool, opened) = (Pool::new(9, Vec::new()), AtomicI32::new(0));
    let open = || async {
        let value = opened.fetch_add(1, Ordering::Relaxed);
        Ok(pool.open("a", async move { Ok(value) }).await?)
    };
    let closed = || Err::<i32, _>(Failure::from(CoreError::closed()));
    let call = async |value: Arc<i32>, _| {
        if *value == 0 {
            drop(pool.lock_closed("a").await);
            return closed();
        }
        Ok(*value)
    };
    assert_eq!(pool.with("a", open, call).await.expect("the second value"), 1);
    let refused = pool.with("a", open, async |_, _| closed()).await.expect_err("the value is open");
    assert_eq!((refused.code(), opened.load(Ordering::Relaxed)), ("WINDOW_CLOSED", 2));
}

/// What happens to the values of a test.
#[derive(Default)]
struct Events {
    /// In this order.
    log: std::sync::Mutex<Vec<String>>,
    is_closing: Notify,
    may_close: Notify,
}

impl Events {
    fn note(&self, event: &str, name: &str) {
        lock(&self.log).push(format!("{event} {name}"));
    }
}

/// A value that is given back only when the test allows it.
struct Slow(&'static str, Arc<Events>);

impl Pooled for Slow {
    async fn give_back(self: Arc<Self>) {
        let Self(name, events) = &*self;
        events.is_closing.notify_one();
        events.may_close.notified().await;
        events.note("close", name);
    }
}

#[tokio::test]
async fn a_name_whose_close_is_slow_is_not_opened_beside_it() {
    let (pool, events) = (Pool::new(1, Vec::new()), Arc::<Events>::default());
    let open = async |name| {
        let slow = Slow(name, Arc::clone(&events));
        let opening = async move {
            slow.1.note("open", name);
            Ok(slow)
        };
        drop(pool.open(name, opening).await.expect("it opens"));
    };
    open("a").await;
    // Makes room for b.
    open("b").await;
    events.is_closing.notified().await;
    let mut again = pin!(open("a"));
    // More turns than an opening needs.
    for _ in 0..100 {
        assert!(poll_fn(|cx| Poll::Ready(again.as_mut().poll(cx).is_pending())).await, "{:?}", lock(&events.log));
        yield_now().await;
    }
    events.may_close.notify_one();
    again.await;
    assert_eq!(*lock(&events.log), ["open a", "open b", "close a", "open a"]);
}

#[tokio::test]
async fn values_unused_between_two_sweeps_are_taken_out() {
    let pool = Pool::new(9, Vec::new());
    put(&pool, "a", 1).await;
    put(&pool, "b", 2).await;
    assert!(pool.take_idle().is_empty(), "both are new");
    assert_eq!(pool.try_with("a", |value| *value), Some(1));
    let idle = pool.take_idle();
    assert_eq!(idle.iter().map(|(_, value)| **value).collect::<Vec<_>>(), [2]);
    assert_eq!(pool.get("b"), None);
    assert_eq!(pool.take_all(), [Arc::new(1)]);
    assert_eq!(pool.lock("c").await.put(3).expect_err("the pool is closed"), 3);
}

#[tokio::test]
async fn values_unused_for_longest_make_room_but_kept_names_stay() {
    let pool = Pool::new(2, vec!["kept".to_owned()]);
    for (name, value) in [("kept", 0), ("a", 1), ("b", 2)] {
        assert!(put(&pool, name, value).await.is_empty());
    }
    assert!(pool.get("a").is_some());
    assert_eq!(put(&pool, "c", 3).await, [2]);
    assert_eq!(put(&pool, "d", 4).await, [1]);
    assert!(pool.get("kept").is_some() && pool.get("c").is_some());
}

#[tokio::test]
async fn names_are_locked_one_by_one_and_forgotten() {
    let pool = Pool::<i32>::new(2, Vec::new());
    let first = pool.lock("a").await;
    pool.lock("b").await.put(2).expect("the pool is open");
    assert!(timeout(Duration::from_millis(20), pool.lock("a")).await.is_err());
    drop(first);
    assert!(timeout(Duration::from_secs(10), pool.lock("a")).await.is_ok());
    assert_eq!(pool.read().len(), 1, "a name without a value takes no memory");
}
