//! `snowmint sequence`: creates, shows and uses named sequences, with the terms of SQL.

use std::sync::Arc;

use serde::Serialize;
use snowmint_core::formatted::Pattern;
use snowmint_core::sequence::{Options, Rules, Set};
use snowmint_stores::{Formatted, Sequences};

use super::operate::{MAX_WAIT, with_store};
use crate::arguments::operate::{Sequence, SequenceVerb};
use crate::definition::Definition;
use snowmint_cli::{Exit, virtual_range};

#[derive(Serialize)]
struct Taken<'a> {
    text: &'a str,
    number: String,
    period: String,
}

/// Creates a sequence, takes values and texts, sets the current value, or shows the definition.
pub fn sequence(options: &Sequence) -> Result<u8, Exit> {
    let place = &options.place;
    if let SequenceVerb::Virtual { name } = &options.verb {
        return virtual_range(name, place.json);
    }
    with_store(place, async |store| {
        let session = Sequences::new(Arc::clone(&store)).with_max_wait(MAX_WAIT);
        match &options.verb {
            SequenceVerb::Create { name, start, increment, min, max, cache, cycle, dialect, kind } => {
                let wanted = Options {
                    dialect: *dialect,
                    kind: *kind,
                    increment: *increment,
                    min: *min,
                    max: *max,
                    start: *start,
                    cache: *cache,
                    cycle: *cycle,
                };
                if !session.create(name, &wanted).await? {
                    return Err(Exit::Failed(format!("the sequence {name:?} exists already and is unchanged")));
                }
            }
            SequenceVerb::Next { name, count } => {
                for _ in 0..*count {
                    place.print_number(session.next(name).await?)?;
                }
            }
            SequenceVerb::Set { name, value, not_called, round } => {
                let set = Set { value: Some(*value), is_called: not_called.then_some(false), round: *round };
                match session.set(name, &set).await? {
                    Some(value) => place.print_number(value)?,
                    None => {
                        return Err(Exit::Failed(
                            "nothing was changed: the sequence is at this value or beyond".to_owned(),
                        ));
                    }
                }
            }
            SequenceVerb::Format { name, pattern, period, zone, overflow } => {
                let pattern = Pattern::new(pattern, *period, *zone, *overflow)?;
                let formatted = Formatted::new(Arc::clone(&store), name, pattern)?.with_max_wait(MAX_WAIT);
                let next = formatted.next().await?;
                let number = next.number.to_string();
                place.print(&next.text, &Taken { text: &next.text, number, period: next.period })?;
            }
            // It needs no store.
            SequenceVerb::Virtual { .. } => {}
            SequenceVerb::Show { name } => {
                let Some(found) = session.definition(name).await? else {
                    return Err(Exit::Failed(format!("there is no sequence {name:?}")));
                };
                let definition = Definition::of(name, &Rules::new(&found)?);
                place.print(&definition, &definition)?;
            }
        }
        Ok(0)
    })
}
