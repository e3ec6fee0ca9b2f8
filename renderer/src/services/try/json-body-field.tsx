import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeArea } from "../../ui/forms/code-area.tsx";
import { StatusShape } from "../../ui/status/status-shape.tsx";
import { layOutJson } from "../../viewer/layout/json-layout.ts";
import { copiedText } from "../../viewer/layout/line-diff.ts";
import type { JsonCheck } from "./try-request.ts";
import { TryProblem, TrySectionHead } from "./try-section.tsx";

interface JsonBodyFieldProps {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly check: JsonCheck;
  readonly rows: { readonly least: number; readonly most: number };
  readonly onChange: (body: string) => void;
  /** Beside the title. */
  readonly children?: ReactNode;
}

/** Formats by tokens, which keeps every digit of a number and bounds the indentation of deep nesting. */
function formatted(json: string): string {
  const laidOut = layOutJson(json, { expanded: true });
  return laidOut.isShortened ? json : copiedText(laidOut);
}

/** A body that is JSON most of the time, checked while it is typed. */
export function JsonBodyField({ title, label, value, check, rows, onChange, children }: JsonBodyFieldProps) {
  return (
    <>
      <TrySectionHead
        title={title}
        isLive
        state={
          <>
            {check.state === "valid" && (
              <>
                <StatusShape shape="running" /> JSON
              </>
            )}
            {check.state === "invalid" && <TryProblem>not valid</TryProblem>}
          </>
        }
      >
        {check.state === "valid" && (
          <Button size="compact-xs" variant="subtle" onClick={() => onChange(formatted(value))}>
            Format
          </Button>
        )}
        {children}
      </TrySectionHead>
      <CodeArea
        aria-label={label}
        value={value}
        minRows={rows.least}
        maxRows={rows.most}
        error={check.state === "invalid" && check.problem}
        onChange={onChange}
      />
    </>
  );
}
