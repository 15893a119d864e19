//! The flags of ab's report in HTML: `-w`, `-x`, `-y`, `-z`.

use clap::Args;
use plimsoll_shootout::http::HtmlAttributes;

/// ab's background of cells without `-z`.
const CELL: &str = "bgcolor=white";

/// Tables of HTML in place of the text. In ab, each attribute asks for them, too.
#[derive(Debug, Clone, Args)]
pub(crate) struct HtmlArgs {
    /// Print the result as tables of HTML
    #[arg(short = 'w', long)]
    html: bool,
    /// Attributes of each table; implies -w
    #[arg(short = 'x', long, value_name = "ATTRIBUTES", allow_hyphen_values = true)]
    table_attributes: Option<String>,
    /// Attributes of each row; implies -w
    #[arg(short = 'y', long, value_name = "ATTRIBUTES", allow_hyphen_values = true)]
    row_attributes: Option<String>,
    /// Attributes of each cell; implies -w
    #[arg(short = 'z', long, value_name = "ATTRIBUTES", allow_hyphen_values = true)]
    cell_attributes: Option<String>,
}

impl HtmlArgs {
    /// The attributes; `None` for plain text.
    pub(crate) fn attributes(&self) -> Option<HtmlAttributes> {
        let given = [
            &self.table_attributes,
            &self.row_attributes,
            &self.cell_attributes,
        ];
        let is_wanted = self.html || given.iter().any(|attributes| attributes.is_some());
        is_wanted.then(|| HtmlAttributes {
            table: self.table_attributes.clone().unwrap_or_default(),
            row: self.row_attributes.clone().unwrap_or_default(),
            cell: self.cell_attributes.clone().unwrap_or_else(|| CELL.to_owned()),
        })
    }
}
