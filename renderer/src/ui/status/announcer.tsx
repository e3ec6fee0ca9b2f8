import { useEffect, useState } from "react";

/** So long a text stays: the same one can be said again after it. */
const saidForMs = 1_500;
let say: ((text: string) => void) | undefined;

/** Has a screen reader say what the eye sees elsewhere: "Copied". */
export const announce = (text: string): void => say?.(text);

/** Where `announce` speaks; once in the window. */
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
    const timer = setTimeout(() => setText(""), saidForMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div className="visually-hidden" aria-live="polite">
      {text}
    </div>
  );
}
