import { useElementSize } from "@mantine/hooks";
import { useMemo } from "react";
import styles from "./code-lines.module.css";
import { CodeLines } from "./code-lines.tsx";
import { bytesInHexLine, hexLine, hexLineCount, offsetDigits } from "./hex-lines.ts";
import { jsonLines } from "./json-lines.ts";
import { jsonTokens } from "./json-tokens.ts";
import { textLines } from "./text-lines.ts";

interface TextProps {
  readonly label: string;
  readonly text: string;
  readonly wrap: boolean;
}

export function JsonView({ label, text, wrap }: TextProps) {
  const lines = useMemo(() => jsonLines(jsonTokens(text)), [text]);
  const widest = useMemo(() => widestOf(lines, (line) => line.reduce((sum, token) => sum + token.text.length, 0)), [lines]);
  return (
    <CodeLines
      label={label}
      count={lines.length}
      line={(index) =>
        lines[index]?.map((token, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tokens of a line never change places.
          <span key={place} className={styles[token.kind]}>
            {token.text}
          </span>
        ))
      }
      margin={(index) => String(index + 1)}
      marginCharacters={Math.max(2, String(lines.length).length)}
      widestCharacters={widest}
      wrap={wrap}
    />
  );
}

export function PlainView({ label, text, wrap }: TextProps) {
  const lines = useMemo(() => textLines(text), [text]);
  const widest = useMemo(() => widestOf(lines, (line) => line.text.length), [lines]);
  return (
    <CodeLines
      label={label}
      count={lines.length}
      line={(index) => lines[index]?.text}
      margin={(index) => String(lines[index]?.number ?? "")}
      marginCharacters={Math.max(2, String(lines.at(-1)?.number ?? lines.length).length)}
      widestCharacters={widest}
      wrap={wrap}
    />
  );
}

/** Below this the text beside 16 bytes would be out of sight. */
const wideHexPx = 540;

export function HexView({ label, bytes }: { readonly label: string; readonly bytes: Uint8Array }) {
  const { ref, width } = useElementSize();
  const perLine = width === 0 || width >= wideHexPx ? bytesInHexLine : bytesInHexLine / 2;
  // Without leading zeros that no line of this body needs.
  const digits = offsetDigits(bytes);
  return (
    <div ref={ref} className={styles.hex}>
      <CodeLines
        label={label}
        count={hexLineCount(bytes, perLine)}
        line={(index) => {
          const { hex, text } = hexLine(bytes, index, perLine);
          return (
            <>
              {hex}
              <span className={styles.string}>{`  ${text}`}</span>
            </>
          );
        }}
        margin={(index) => hexLine(bytes, index, perLine).offset.slice(-digits)}
        marginCharacters={digits}
        widestCharacters={perLine * 4 + 2}
        wrap={false}
      />
    </div>
  );
}

function widestOf<Line>(lines: readonly Line[], lengthOf: (line: Line) => number): number {
  let widest = 0;
  for (const line of lines) widest = Math.max(widest, lengthOf(line));
  return widest;
}
