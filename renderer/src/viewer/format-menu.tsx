import { Button, Menu } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { type ContentFormat, contentFormats, type FormatChoice, formatTitles } from "./content-format.ts";

interface FormatMenuProps {
  readonly label: string;
  readonly value: FormatChoice;
  readonly onChange: (format: FormatChoice) => void;
  /** The format that Auto shows, if known. */
  readonly shown?: ContentFormat | undefined;
  readonly formats?: readonly ContentFormat[];
}

/** The format in which content is shown; Auto uses the declared type and the bytes. */
export function FormatMenu({ label, value, onChange, shown, formats = contentFormats }: FormatMenuProps) {
  const title = value === "auto" && shown !== undefined ? `Auto: ${formatTitles[shown]}` : formatTitles[value];
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <Button aria-label={`${label}: ${title}`} rightSection={<IconChevronDown size={12} stroke={1.5} />}>
          {title}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="50vh" style={{ overflowY: "auto" }}>
        {(["auto", ...formats] as const).map((format) => (
          <Menu.RadioItem key={format} value={format} closeMenuOnClick checked={format === value} onChange={() => onChange(format)}>
            {formatTitles[format]}
          </Menu.RadioItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
