//! A column of a Parquet file.

use std::io::Read;

use parquet::basic::{LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use snowmint_inspect::audit::{Reader, no_column};

use crate::exit::Exit;

/// So many rows are read at once.
const BATCH: usize = 8192;

/// Reads the IDs of a column of 64-bit integers or of texts.
pub(super) fn read(ids: &mut Reader, mut input: impl Read, column: Option<&str>) -> Result<(), Exit> {
    // The end of the file says where its columns are.
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(|error| failed(&error))?;
    let schema = file.metadata().file_metadata().schema_descr();
    let names: Vec<_> = schema.columns().iter().map(|column| column.path().string()).collect();
    let column = column.unwrap_or_default();
    let Some(at) = names.iter().position(|name| name == column) else {
        return Err(Exit::Wrong(no_column(column, &names)));
    };
    let described = schema.column(at);
    let is_integer = matches!(described.logical_type_ref(), None | Some(LogicalType::Integer { .. }));
    let is_id =
        matches!(described.physical_type(), Type::INT64) && is_integer || described.physical_type() == Type::BYTE_ARRAY;
    if !is_id || described.max_rep_level() > 0 {
        let physical = described.physical_type();
        let double = if physical == Type::DOUBLE { ", and a double holds only 53 bits of an ID" } else { "" };
        let logical = described.logical_type_ref().map(|logical| format!(" ({logical:?})")).unwrap_or_default();
        return Err(Exit::Wrong(format!(
            "column \"{column}\" has the type {physical}{logical}{double}: IDs are a column of INT64 or of text"
        )));
    }
    // The level of a row with a value; 0 if every row has one.
    let defined = described.max_def_level();
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(|error| failed(&error))?;
        match group.get_column_reader(at).map_err(|error| failed(&error))? {
            ColumnReader::Int64ColumnReader(reader) => rows(ids, reader, defined, |ids, id| {
                ids.add_id(id.cast_unsigned());
                Ok(())
            })?,
            ColumnReader::ByteArrayColumnReader(reader) => {
                rows(ids, reader, defined, |ids, text| ids.add(text.data()).map_err(Exit::Wrong))?;
            }
            _ => return Err(Exit::Failed(format!("column \"{column}\" has changed its type"))),
        }
    }
    Ok(())
}

/// Reads all rows of a column, and passes over those without a value.
fn rows<T: DataType>(
    ids: &mut Reader,
    mut reader: ColumnReaderImpl<T>,
    defined: i16,
    add: impl Fn(&mut Reader, &T::T) -> Result<(), Exit>,
) -> Result<(), Exit> {
    let (mut values, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
    loop {
        values.clear();
        levels.clear();
        let wanted = (defined > 0).then_some(&mut levels);
        let (rows, ..) = reader.read_records(BATCH, wanted, None, &mut values).map_err(|error| failed(&error))?;
        if rows == 0 {
            return Ok(());
        }
        let mut present = values.iter();
        for row in 0..rows {
            let is_there = levels.get(row).is_none_or(|level| *level == defined);
            match if is_there { present.next() } else { None } {
                Some(value) => add(ids, value)?,
                None => ids.skip(),
            }
        }
    }
}

fn failed(error: &ParquetError) -> Exit {
    Exit::Wrong(format!("the Parquet file cannot be read: {error}"))
}
