//! `snowmint segment`: creates, lists and uses tags, the rows of Leaf's table.

use std::io::{Write as _, stdout};

use serde::Serialize;
use snowmint_core::shown::Shown;
use snowmint_stores::{Segments, SegmentsOptions, Tag};

use super::operate::{MAX_WAIT, with_store};
use crate::arguments::operate::{Segment, SegmentVerb};
use snowmint_cli::Exit;
use snowmint_cli::json;

#[derive(Serialize)]
struct Range {
    start: String,
    end: String,
}

#[derive(Serialize)]
struct Name {
    tag: String,
}

/// Creates a tag, takes numbers of a tag, or lists the tags.
pub fn segment(options: &Segment) -> Result<u8, Exit> {
    let as_json = options.place.json;
    with_store(&options.place, async |store| {
        let mut out = stdout().lock();
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
                if as_json {
                    let range = Range { start: numbers.start.to_string(), end: numbers.end.to_string() };
                    json::write_line(&mut out, &range)?;
                } else {
                    numbers.into_iter().try_for_each(|number| writeln!(out, "{number}"))?;
                }
                segments.close().await?;
            }
            SegmentVerb::Ls => {
                let mut tags = Segments::tags(&*store).await?;
                tags.sort_unstable();
                for tag in tags {
                    if as_json {
                        json::write_line(&mut out, &Name { tag })?;
                    } else {
                        writeln!(out, "{}", Shown(tag))?;
                    }
                }
            }
        }
        Ok(0)
    })
}
