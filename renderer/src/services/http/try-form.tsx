import { Button, UnstyledButton } from "@mantine/core";
import { tryMethods } from "../../../../contract/services/http.ts";
import { formatBytes } from "../../ui/texts/quantity.ts";
import { fromBase64 } from "../../viewer/decode/bytes.ts";
import { HeaderEditor } from "../try/header-editor.tsx";
import { JsonBodyField } from "../try/json-body-field.tsx";
import { SendButton } from "../try/send-button.tsx";
import { MethodField, TargetField, TryLine } from "../try/try-fields.tsx";
import { checkJson, methodOf, type TryRequest, takesBody } from "../try/try-request.ts";
import { TrySection, TrySectionHead } from "../try/try-section.tsx";
import styles from "./try-form.module.css";
import { routeOf, suggestedTargets, tryRoutes, withRoute } from "./try-routes.ts";

interface TryFormProps {
  readonly request: TryRequest;
  /** Takes an update function, because choosing a suggestion makes two changes in one event. */
  readonly onChange: (change: (request: TryRequest) => TryRequest) => void;
  readonly onSend: () => void;
  readonly running: boolean;
  readonly sending: boolean;
}

const suggestions = tryRoutes.map(({ group, routes }) => ({ group, items: routes.map((route) => route.target) }));

export function TryForm({ request, onChange, onSend, running, sending }: TryFormProps) {
  const set = (part: Partial<TryRequest>) => onChange((known) => ({ ...known, ...part }));
  const takeRoute = (target: string) => {
    const route = routeOf(target);
    if (route) onChange((known) => withRoute(known, route));
    else set({ target });
  };
  return (
    <div>
      <TryLine>
        <MethodField methods={tryMethods} value={request.method} onChange={(method) => set({ method: methodOf(method ?? "GET") })} />
        <TargetField
          label="Path and query"
          value={request.target}
          suggestions={suggestions}
          offersAll={routeOf(request.target) !== undefined}
          hintOf={(target) => routeOf(target)?.method}
          onChange={(target) => set({ target })}
          onPick={takeRoute}
        />
        <SendButton running={running} sending={sending} onSend={onSend} />
      </TryLine>
      <HeaderEditor headers={request.headers} onChange={(headers) => set({ headers })} />
      {takesBody(request.method) && (
        <TrySection label="Body to send">
          {request.base64 === undefined ? (
            <JsonBodyField
              title="Body"
              label="Body to send"
              value={request.body}
              check={checkJson(request)}
              rows={{ least: 4, most: 14 }}
              onChange={(body) => set({ body })}
            />
          ) : (
            <TrySectionHead
              title="Body"
              state={`${formatBytes(fromBase64(request.base64).length)} that are no text, as they were recorded`}
            >
              <Button size="compact-xs" variant="subtle" onClick={() => set({ base64: undefined })}>
                Write a text instead
              </Button>
            </TrySectionHead>
          )}
        </TrySection>
      )}
      <div className={styles.suggested}>
        {suggestedTargets.map((target) => (
          <UnstyledButton key={target} className={styles.chip} onClick={() => takeRoute(target)}>
            {`${routeOf(target)?.method ?? "GET"} ${target}`}
          </UnstyledButton>
        ))}
      </div>
    </div>
  );
}
