import type { HeaderList } from "../../../contract/traffic/http.ts";
import { isHidden, isSecretHeader, maskedValue } from "../../../contract/traffic/secret-headers.ts";
import { CopyButton } from "../ui/copy/copy-button.tsx";
import { useFirstRows } from "../ui/first-rows.tsx";
import { useReveal } from "../ui/forms/secret-text.tsx";
import { FieldRow, FieldRows, FoldedSection } from "./section.tsx";

interface HeaderListViewProps {
  readonly title?: string;
  readonly headers: HeaderList;
  /** Names in lower case that are no secrets in this protocol. */
  readonly plain?: readonly string[];
}

/** Headers as they crossed the wire; values that look like secrets are masked until revealed. */
export function HeaderListView({ title = "Headers", headers, plain = [] }: HeaderListViewProps) {
  const { shown, more } = useFirstRows(headers, "field");
  return (
    <FoldedSection
      title={title}
      facts={headers.length}
      actions={
        <CopyButton text={() => headers.map(([name, value]) => `${name}: ${value}`).join("\n")} what={`all ${title.toLowerCase()}`} />
      }
    >
      <FieldRows>
        {shown.map(([name, value], index) => (
          <Header
            // biome-ignore lint/suspicious/noArrayIndexKey: a name may occur twice, and the list never changes.
            key={`${index} ${name}`}
            name={name}
            value={value}
            isSecret={isSecretHeader(name) && !plain.includes(name.toLowerCase())}
          />
        ))}
      </FieldRows>
      {more}
    </FoldedSection>
  );
}

function Header({ name, value, isSecret }: { readonly name: string; readonly value: string; readonly isSecret: boolean }) {
  const { revealed, button } = useReveal(name);
  // There is nothing to reveal.
  if (isHidden(value)) return <FieldRow name={name}>{`${value} (hidden before it was kept: see “Record credentials” in Config)`}</FieldRow>;
  return (
    <FieldRow name={name} copied={value} tools={isSecret && button}>
      {isSecret && !revealed ? maskedValue(name, value) : value}
    </FieldRow>
  );
}
