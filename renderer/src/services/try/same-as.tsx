import { SegmentedControl } from "@mantine/core";
import type { ReactNode } from "react";
import { z } from "zod";
import { type CopyFormat, copyAs, copyFormats } from "../../inspectors/http/copy-as.ts";
import { CopyButton } from "../../ui/copy/copy-button.tsx";
import { inBash } from "../../ui/copy/shells.ts";
import { TextBlock } from "../../ui/copy/text-block.tsx";
import { Note } from "../../ui/panel.tsx";
import { useRemembered } from "../../ui/use-remembered.ts";
import { replayOfTry, type TryRequest } from "./try-request.ts";
import { TrySection, TrySectionHead } from "./try-section.tsx";

interface SameAsProps<Language extends string> {
  readonly title?: string;
  readonly languages: readonly { readonly value: Language; readonly label: string }[];
  readonly language: Language;
  readonly onLanguage: (language: Language) => void;
  readonly text: string;
  /** The copied text, if it differs from the shown one. */
  readonly copied?: (() => string) | undefined;
  readonly copies: string;
  /** What the lines cannot express. */
  readonly notes?: readonly string[];
  /** What else the lines need. */
  readonly below?: ReactNode;
  /** Beside the copy button. */
  readonly children?: ReactNode;
}

/** The same try as lines to copy, in a chosen language. */
export function SameAs<Language extends string>(props: SameAsProps<Language>) {
  const { title = "The same as", languages, language, onLanguage, text, copied, copies, notes, below, children } = props;
  return (
    <TrySection label={`${title} lines to copy`}>
      <TrySectionHead title={title}>
        <SegmentedControl
          aria-label="Language"
          data={languages.map((entry) => ({ ...entry }))}
          value={language}
          onChange={(value) => onLanguage(value as Language)}
        />
        {children}
        <CopyButton text={copied ?? text} what={copies} />
      </TrySectionHead>
      <TextBlock>{text}</TextBlock>
      {notes?.map((note) => (
        <Note key={note}>{note}</Note>
      ))}
      {below}
    </TrySection>
  );
}

const languages: readonly { readonly value: CopyFormat; readonly label: string }[] = [
  { value: "curl", label: inBash("curl") },
  { value: "javascript", label: "JavaScript" },
  { value: "python", label: "Python" },
];

export function TryCommands({ request, origin }: { readonly request: TryRequest; readonly origin: string }) {
  const [language, setLanguage] = useRemembered<CopyFormat>("try.language", "curl", z.enum(copyFormats));
  const text = copyAs(language, replayOfTry(request, origin));
  return <SameAs languages={languages} language={language} onLanguage={setLanguage} text={text} copies="the command" />;
}
