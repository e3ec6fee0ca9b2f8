import { Button, Menu } from "@mantine/core";
import { IconCheck, IconChevronDown, IconCopy } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { copyText } from "../../ui/copy-text.ts";
import { attempt } from "../../ui/notify.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { type CopyFormat, copyAs, copyFormats, copyFormatTitles, type Replay } from "./copy-as.ts";

const shownMs = 1_200;

/** The request as a command or program; the button repeats the kind chosen last. */
export function CopyMenu({ replay }: { readonly replay: Replay }) {
  const [format, setFormat] = useRemembered<CopyFormat>("copy-as", "curl");
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (chosen: CopyFormat) => {
    setFormat(chosen);
    void attempt(copyText(copyAs(chosen, replay)).then(() => setCopied(true)));
  };
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <Button.Group>
      <Button onClick={() => copy(format)} leftSection={<Icon size={14} stroke={1.5} />}>
        {copied ? "Copied" : `Copy as ${copyFormatTitles[format]}`}
      </Button>
      <Menu position="bottom-end" withinPortal={false}>
        <Menu.Target>
          <Button px={5} aria-label="Copy as…">
            <IconChevronDown size={14} stroke={1.5} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {copyFormats.map((other) => (
            <Menu.Item key={other} onClick={() => copy(other)}>
              {copyFormatTitles[other]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  );
}
