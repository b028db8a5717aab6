//! The order in which IDs are given.

use crate::audit::terms::{Order, Sight, Spot, Terms};

/// The number of IDs below which they show no order.
const MIN_IDS: u64 = 64;

/// Returns the order of IDs.
pub(super) fn order(terms: &Terms, ids: &[u64]) -> Order {
    if ids.is_sorted() {
        return Order::Ascending;
    }
    if ids.is_sorted_by(|a, b| a >= b) {
        return Order::Descending;
    }
    if is_shuffled(terms, ids) { Order::Unordered } else { Order::Written }
}

/// Returns whether the IDs jump about in their time: from one to the next by a quarter of all time on average, with nearly
/// all of them behind the highest one so far. Random order gives a third.
fn is_shuffled(terms: &Terms, ids: &[u64]) -> bool {
    let (mut lowest, mut highest, mut last) = (u64::MAX, 0, None);
    let (mut count, mut behind, mut descents, mut way) = (0u64, 0u64, 0u64, 0u128);
    for id in ids {
        let Sight::Inside(Spot { tick, .. }) = terms.sight(*id) else { continue };
        count += 1;
        behind += u64::from(tick < highest);
        if let Some(last) = last {
            descents += u64::from(tick < last);
            way += u128::from(tick.abs_diff(last));
        }
        (lowest, highest, last) = (lowest.min(tick), highest.max(tick), Some(tick));
    }
    let span = u128::from(highest.saturating_sub(lowest));
    count >= MIN_IDS && behind * 10 >= count * 8 && descents * 3 >= count && way * 4 >= span * u128::from(count)
}
