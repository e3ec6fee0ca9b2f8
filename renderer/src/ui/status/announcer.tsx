import { useEffect, useState } from "react";

/** How long a text stays; after that the same text can be announced again. */
const shownForMs = 1_500;
let say: ((text: string) => void) | undefined;

/** Announces to a screen reader what is visible elsewhere: "Copied". */
export const announce = (text: string): void => say?.(text);

/** The live region for `announce`; once per window. */
export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    say = setText;
    return () => {
      say = undefined;
    };
  }, []);
  useEffect(() => {
    if (text === "") return;
    const timer = setTimeout(() => setText(""), shownForMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="visually-hidden" aria-live="polite">
      {text}
    </div>
  );
}
