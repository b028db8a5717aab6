//! `snowmint segment`: creates, lists and uses tags, the rows of Leaf's table.

use std::io::stdout;

use serde::Serialize;
use serde_json::json;
use snowmint_core::shown::Shown;
use snowmint_stores::{Segments, SegmentsOptions, Tag};

use super::operate::{MAX_WAIT, with_store};
use crate::arguments::operate::{Segment, SegmentVerb};
use snowmint_cli::{Exit, json};

#[derive(Serialize)]
struct Range {
    start: String,
    end: String,
}

/// Creates a tag, takes numbers of a tag, or lists the tags.
pub fn segment(options: &Segment) -> Result<u8, Exit> {
    let place = &options.place;
    with_store(place, async |store| {
        match &options.verb {
            SegmentVerb::Create { tag, start, step, description } => {
                let row = Tag::new(*start, *step).description(description.clone());
                if !Segments::create(&*store, tag, &row).await? {
                    return Err(Exit::Failed(format!("the tag {tag:?} exists already and is unchanged")));
                }
            }
            SegmentVerb::Next { tag, count } => {
                let segments = Segments::open(store, tag, SegmentsOptions::default().max_wait(MAX_WAIT)).await?;
                let numbers = segments.next_block(*count).await?;
                if place.json {
                    let range = Range { start: numbers.start.to_string(), end: numbers.end.to_string() };
                    json::write_line(&mut stdout(), &range)?;
                } else {
                    numbers.into_iter().try_for_each(|number| place.print_number(number))?;
                }
                segments.close().await?;
            }
            SegmentVerb::Ls => {
                let mut tags = Segments::tags(&*store).await?;
                tags.sort_unstable();
                tags.iter().try_for_each(|tag| place.print(Shown(tag), &json!({ "tag": tag })))?;
            }
        }
        Ok(0)
    })
}
