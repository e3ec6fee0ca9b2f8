import { SegmentedControl } from "@mantine/core";
import { CopyButton } from "../components/copy-button.tsx";
import { useRemembered } from "../components/use-remembered.ts";
import { type CopyFormat, copyAs } from "../inspector/copy-as.ts";
import styles from "./http-try.module.css";
import { replayOfTry, type TryRequest } from "./try-request.ts";

const languages: readonly { readonly value: CopyFormat; readonly label: string }[] = [
  { value: "curl", label: "curl" },
  { value: "javascript", label: "JavaScript" },
  { value: "python", label: "Python" },
];

export function TryCommands({ request, origin }: { readonly request: TryRequest; readonly origin: string }) {
  const [language, setLanguage] = useRemembered<CopyFormat>("try.language", "curl");
  const text = copyAs(language, replayOfTry(request, origin));
  return (
    <section className={styles.section} aria-label="The same as a command">
      <div className={styles.sectionHead}>
        <h2 className={styles.title}>The same as</h2>
        <span className={styles.check} />
        <SegmentedControl
          aria-label="Language"
          data={languages.map((entry) => ({ ...entry }))}
          value={language}
          onChange={(value) => setLanguage(value as CopyFormat)}
        />
        <CopyButton text={text} what="the command" size={24} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
      <pre className={styles.command} tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
