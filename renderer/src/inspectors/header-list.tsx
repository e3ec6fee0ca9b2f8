import type { HeaderList } from "../../../contract/traffic/http.ts";
import { isSecretHeader, maskedValue } from "../../../contract/traffic/secret-headers.ts";
import { CopyButton } from "../ui/copy/copy-button.tsx";
import { useReveal } from "../ui/forms/secret-text.tsx";
import { FieldRow, FieldRows, FoldedSection } from "./section.tsx";

interface HeaderListViewProps {
  readonly title?: string;
  readonly headers: HeaderList;
}

/** Headers as they crossed the wire; values that look like secrets are masked until revealed. */
export function HeaderListView({ title = "Headers", headers }: HeaderListViewProps) {
  return (
    <FoldedSection
      title={title}
      facts={headers.length}
      actions={
        <CopyButton text={() => headers.map(([name, value]) => `${name}: ${value}`).join("\n")} what={`all ${title.toLowerCase()}`} />
      }
    >
      <FieldRows>
        {headers.map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a name may occur twice, and the list never changes.
          <Header key={`${index} ${name}`} name={name} value={value} />
        ))}
      </FieldRows>
    </FoldedSection>
  );
}

function Header({ name, value }: { readonly name: string; readonly value: string }) {
  const isSecret = isSecretHeader(name);
  const { revealed, button } = useReveal(name);
  return (
    <FieldRow name={name} copied={value} tools={isSecret && button}>
      {isSecret && !revealed ? maskedValue(name, value) : value}
    </FieldRow>
  );
}
