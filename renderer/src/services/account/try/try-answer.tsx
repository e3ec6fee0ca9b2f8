import { Button } from "@mantine/core";
import { IconArrowUpRight } from "@tabler/icons-react";
import { type CSSProperties, useMemo, useState } from "react";
import type { AccountTry, AccountTryStep } from "../../../../../contract/services/account.ts";
import { namesSecret } from "../../../../../contract/traffic/secret-names.ts";
import { goTo, servicePage } from "../../../app/route.ts";
import { HeaderListView } from "../../../inspectors/header-list.tsx";
import { ToneMark, toneOfStatus } from "../../../list/cells/tone-mark.tsx";
import { requestedRows } from "../../../pages/service/handover.ts";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { useReveal } from "../../../ui/forms/secret-text.tsx";
import { Caption, Notice, SectionTitle } from "../../../ui/panel.tsx";
import { formatBytes } from "../../../ui/texts/quantity.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { formatTook } from "../../../ui/texts/time.ts";
import { ContentWell } from "../../../viewer/content-well.tsx";
import { fromBase64 } from "../../../viewer/decode/bytes.ts";
import type { LayoutRequest } from "../../../viewer/layout/content-layout.ts";
import { useContentLayout } from "../../../viewer/use-content-layout.ts";
import { AnswerNote } from "../../try/answer-pane.tsx";
import { ClaimList } from "../token-card.tsx";
import own from "./account-try.module.css";
import { decodeToken } from "./claim-lines.ts";

/** Each request and its answer, in order. */
export function TryAnswer({ tried }: { readonly tried: AccountTry }) {
  return (
    <>
      {tried.steps.map((step, index) => (
        <Step key={`${step.title} ${step.status}`} step={step} number={index + 1} last={index === tried.steps.length - 1} />
      ))}
      {tried.codeNeeded && (
        <Notice tone="warn" role="status">
          This user has a second factor. Enter the code and send again.
        </Notice>
      )}
    </>
  );
}

const titles: Readonly<Record<AccountTryStep["title"], string>> = { login: "Log in", "second factor": "Second factor", call: "Call" };

/** Most lines of an answer; a longer one scrolls. */
const mostLines = 40;

function Step({ step, number, last }: { readonly step: AccountTryStep; readonly number: number; readonly last: boolean }) {
  const { revealed, button } = useReveal("the tokens");
  const [details, setDetails] = useState(false);
  // The call's answer is shown open; of the steps before it only the decoded token.
  const [opened, setOpened] = useState(last || step.status !== 200);
  const whole = useMemo(() => new TextDecoder().decode(fromBase64(step.body.base64)), [step.body]);
  const masked = useMemo(() => maskSecrets(whole), [whole]);
  const text = revealed ? whole : masked.text;
  const request = useMemo<LayoutRequest>(
    () => ({ bytes: new TextEncoder().encode(text), contentType: "", isCut: false, format: "auto" }),
    [text],
  );
  const layout = useContentLayout(request);
  const lineCount = useMemo(() => layout.laidOut?.text.split("\n", mostLines).length ?? 1, [layout.laidOut]);
  const { row } = step;
  return (
    <section className={own.step} data-last={last || undefined} aria-label={`${number}. ${titles[step.title]}`}>
      <div className={own.stepHead}>
        <span className={own.number}>{number}</span>
        <SectionTitle>{titles[step.title]}</SectionTitle>
        <ToneMark tone={toneOfStatus(step.status)} word={`${step.status} ${step.reason}`} />
        <Caption grow>{[formatTook(step.tookMs), formatBytes(step.body.bytes)].join(" · ")}</Caption>
        {row !== undefined && (
          <Button
            size="compact-xs"
            rightSection={<IconArrowUpRight size={13} stroke={1.5} />}
            onClick={() => {
              requestedRows.give("account", row);
              goTo(servicePage("account", "live"));
            }}
          >
            Show in Live
          </Button>
        )}
      </div>
      <p className={own.target}>
        <b>{step.request.method}</b> {shownText(step.request.target)}
      </p>
      <Decoded text={whole} />
      <div className={own.bodyHead}>
        <Button size="compact-xs" variant="subtle" aria-expanded={details} onClick={() => setDetails(!details)}>
          {details ? "Hide headers" : "Show headers"}
        </Button>
        {text !== "" && !last && (
          <Button size="compact-xs" variant="subtle" aria-expanded={opened} onClick={() => setOpened(!opened)}>
            {opened ? "Hide body" : "Show body"}
          </Button>
        )}
        <span className={own.spring} />
        {opened && masked.masked && button}
        <CopyButton text={whole} what="the whole body" />
      </div>
      {details && <HeaderListView title="Headers sent" headers={step.request.headers} />}
      {details && <HeaderListView title="Headers" headers={step.headers} />}
      {text === "" ? (
        <AnswerNote>The answer has no body.</AnswerNote>
      ) : (
        opened && (
          <div className={own.body} style={{ "--lines": lineCount } as CSSProperties}>
            <ContentWell label={`Answer ${number}`} layout={layout} bytes={step.body.bytes} wrap />
          </div>
        )
      )}
    </section>
  );
}

/** The access token in an answer, decoded. */
function Decoded({ text }: { readonly text: string }) {
  const claims = useMemo(() => {
    const token = /"token"\s*:\s*"([^"]+)"/.exec(text)?.[1];
    return token === undefined ? undefined : decodeToken(token);
  }, [text]);
  if (!claims) return null;
  return <ClaimList claims={claims} className={own.claims ?? ""} label="The decoded token" />;
}

const dots = "••••••";

/** A JSON body with its secrets masked, and whether there were any; other text, and JSON that is nested too deeply, is unchanged. */
export function maskSecrets(text: string): { readonly text: string; readonly masked: boolean } {
  let masked = false;
  try {
    const shown = JSON.stringify(JSON.parse(text), (name, inner: unknown) => {
      if (typeof inner !== "string" || inner === "" || !namesSecret(name)) return inner;
      masked = true;
      // The beginning shows the kind of text, and is the same for every token.
      return inner.startsWith("eyJ") ? `eyJ${dots}` : dots;
    });
    return masked ? { text: shown, masked } : { text, masked };
  } catch {
    return { text, masked: false };
  }
}
