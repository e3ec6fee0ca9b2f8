/** Of one to publish on. */
export function problemOfTopic(topic: string): string | undefined {
  if (topic === "") return "A topic has at least one character.";
  if (/[+#]/.test(topic)) return "A topic to publish on holds no + and no #.";
  if (topic.includes("\0")) return "A topic holds no NUL.";
  return undefined;
}
