import { Button, Select, TextInput } from "@mantine/core";
import { useMemo } from "react";
import { z } from "zod";
import { type GrpcMethodView, type GrpcTried, grpcActions, metadataProblem } from "../../../../../contract/services/grpc.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { useConfig } from "../../../control/use-config.ts";
import { useService } from "../../../control/use-store.ts";
import { useHandover } from "../../../pages/service/handover.ts";
import { AuthorityNote } from "../../../ui/services/authority-actions.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { isPickedAtStart, originOf } from "../../../ui/texts/address.ts";
import { shownText } from "../../../ui/texts/shown-text.ts";
import { useRemembered } from "../../../ui/use-remembered.ts";
import { HeaderEditor } from "../../try/header-editor.tsx";
import { SameAs } from "../../try/same-as.tsx";
import { SendButton } from "../../try/send-button.tsx";
import { TryLine } from "../../try/try-fields.tsx";
import { TryPage } from "../../try/try-page.tsx";
import { type CallLanguage, callLanguages, callLines, isTlsOrigin, requiresClientCertificate, sendsStream } from "../call-lines.ts";
import { recordedCalls } from "../recorded-call.ts";
import { loaderObjectOf } from "../schema/loader-object.ts";
import { useGrpcSchema } from "../schema/use-grpc-schema.ts";
import { useGrpcView, useLastGrpcView } from "../use-grpc-view.ts";
import styles from "./grpc-try.module.css";
import { MessageEditor } from "./message-editor.tsx";
import { TriedCall } from "./tried-call.tsx";
import {
  checkMessage,
  deadlineMsOf,
  firstCall,
  hasWrongMetadata,
  keptCall,
  messageOf,
  requestedTries,
  sentMetadata,
  sentText,
  startOf,
  takeRecorded,
  templateText,
  tryCallSchema,
  withMessage,
  withRequested,
} from "./try-call.ts";

const metadataNames = [
  "authorization",
  "x-backlot-status",
  "x-backlot-message",
  "x-backlot-message-bin",
  "x-backlot-details",
  "x-backlot-delay",
  "x-backlot-cut-after",
  "x-backlot-headers",
  "x-backlot-trailers",
  "x-backlot-echo",
  "x-backlot-compression",
];
const noServices: readonly never[] = [];
const untried: GrpcTried = { state: "untried" };
const languageSchema = z.enum(callLanguages.map(({ value }) => value));

/** Calls any served method, and shows messages in both directions, status, headers and trailers. */
export function GrpcTry() {
  const client = useControl();
  const service = useService("grpc");
  const services = useLastGrpcView("services", (view) => view.services) ?? noServices;
  const schema = useGrpcSchema().value;
  const state = useGrpcView("try") ?? untried;
  const [call, setCall] = useRemembered("grpc.try-call", firstCall, tryCallSchema, { keeps: keptCall });
  const [language, setLanguage] = useRemembered<CallLanguage>("grpc.try-language", "grpcurl", languageSchema);
  const running = service?.status.state === "running";
  const methods = useMemo(() => new Map(services.flatMap((served) => served.methods.map((method) => [method.path, method]))), [services]);
  const method = methods.get(call.path);
  const requestType = method?.requestType ?? "";
  const template = useMemo(() => templateText(schema, requestType), [schema, requestType]);
  const json = messageOf(call) ?? template;
  const check = useMemo(() => checkMessage(schema, requestType, json), [schema, requestType, json]);
  useHandover(recordedCalls, "grpc", (recorded) => void attempt(takeRecorded(client, recorded).then(setCall)));
  useHandover(requestedTries, "grpc", (requested) => setCall((known) => withRequested(known, requested)));
  const origin = originOf(service);
  const config = useConfig("grpc", service?.status.state).value;
  const clientCertificate = config !== undefined && requiresClientCertificate(config);
  const isOpen = state.state === "open";
  const canBegin = deadlineMsOf(call) !== null && !hasWrongMetadata(call);
  const isValid = method !== undefined && check.state !== "invalid" && canBegin;
  const canSendMore = isOpen && !state.halfClosed && state.path === call.path && sendsStream(method?.pattern);

  const start = (first: string | undefined) => void attempt(client.action(grpcActions, "grpc", "try.start", startOf(call, first)));
  const send = () => {
    if (!running || !isValid) return;
    if (canSendMore) void attempt(client.action(grpcActions, "grpc", "try.send", { json: sentText(json) }));
    else if (!isOpen) start(sentText(json));
  };
  return (
    <TryPage
      label="Try a call"
      onSend={send}
      question={
        <>
          <TryLine>
            <MethodSelect services={services} value={call.path} onChange={(path) => setCall((known) => ({ ...known, path }))} />
            <TextInput
              aria-label="Deadline in seconds"
              title="Deadline in seconds; empty for none"
              placeholder="none"
              className={styles.deadline}
              value={call.deadline}
              inputMode="decimal"
              leftSection="in"
              rightSection="s"
              error={deadlineMsOf(call) === null}
              onChange={(event) => {
                const deadline = event.currentTarget.value;
                setCall((known) => ({ ...known, deadline }));
              }}
            />
            <SendButton
              title={canSendMore ? "Send message" : "Send"}
              running={running}
              sending={false}
              isValid={isValid && (!isOpen || canSendMore)}
              onSend={send}
            />
          </TryLine>
          <div className={styles.line}>
            {isOpen && state.path !== call.path ? (
              <span>{`A call of ${shownText(state.path)} is open. Cancel it to begin another one.`}</span>
            ) : (
              <MethodFacts method={method} path={call.path} running={running} />
            )}
            {sendsStream(method?.pattern) && !isOpen && (
              <Button
                title="Begins the call; messages can be sent one by one"
                disabled={!running || !canBegin}
                onClick={() => start(undefined)}
              >
                Open without a message
              </Button>
            )}
            {isOpen && (
              <>
                <Button
                  disabled={state.halfClosed}
                  title="No more messages follow"
                  onClick={() => void attempt(client.action(grpcActions, "grpc", "try.half-close", {}))}
                >
                  Half-close
                </Button>
                <Button onClick={() => void attempt(client.action(grpcActions, "grpc", "try.cancel", {}))}>Cancel</Button>
              </>
            )}
          </div>
          <MessageEditor
            schema={schema}
            typeName={requestType}
            json={json}
            check={check}
            template={template}
            onChange={(next) => setCall((known) => withMessage(known, next))}
          />
          <HeaderEditor
            title="Metadata"
            item="Metadata"
            names={metadataNames}
            problemOf={metadataProblem}
            headers={call.metadata}
            onChange={(metadata) => setCall((known) => ({ ...known, metadata }))}
          />
          {method && !isPickedAtStart(origin) && (
            <SameAs
              languages={callLanguages}
              language={language}
              onLanguage={setLanguage}
              text={callLines(language, {
                ...method,
                origin,
                clientCertificate,
                metadata: sentMetadata(call),
                deadlineMs: deadlineMsOf(call) ?? undefined,
                messages: [{ json: sentText(json), object: loaderObjectOf(schema, requestType, sentText(json)) }],
              })}
              copies="the lines"
              below={isTlsOrigin(origin) && <CertificateToTrust ofClient={clientCertificate} />}
            />
          )}
        </>
      }
    >
      <TriedCall state={state} asked={call.path} running={running} />
    </TryPage>
  );
}

interface MethodSelectProps {
  readonly services: readonly { readonly name: string; readonly methods: readonly GrpcMethodView[] }[];
  readonly value: string;
  readonly onChange: (path: string) => void;
}

/** Methods by service, found by both names. The method's name is first, since the end is cut if there is little room. */
function MethodSelect({ services, value, onChange }: MethodSelectProps) {
  const choices = useMemo(
    () =>
      services.map(({ name, methods }) => ({
        group: name,
        items: methods.map((method) => ({ value: method.path, label: `${method.name} · ${name}` })),
      })),
    [services],
  );
  return (
    <Select
      aria-label="Method"
      className={styles.method}
      data={choices}
      value={value}
      placeholder="Service and method"
      nothingFoundMessage="No such method is served."
      searchable
      allowDeselect={false}
      size="xs"
      maxDropdownHeight={360}
      comboboxProps={{ withinPortal: false, floatingStrategy: "fixed" }}
      renderOption={({ option }) => option.value.slice(option.value.lastIndexOf("/") + 1)}
      onChange={(path) => path !== null && onChange(path)}
    />
  );
}

function MethodFacts({
  method,
  path,
  running,
}: {
  readonly method: GrpcMethodView | undefined;
  readonly path: string;
  readonly running: boolean;
}) {
  if (!method && !running) return <span>Start the service to call its methods.</span>;
  if (!method) return <span>{`${shownText(path)} is not served. Choose a method.`}</span>;
  const { pattern, requestType, responseType } = method;
  const name = (type: string) => type.slice(type.lastIndexOf(".") + 1);
  return (
    <span title={`${requestType} → ${responseType}`}>
      {pattern} · <code>{name(requestType)}</code> → <code>{name(responseType)}</code>
    </span>
  );
}

/** Clients refuse a service whose certificate they do not trust, and may have to show one themselves. */
function CertificateToTrust({ ofClient }: { readonly ofClient: boolean }) {
  const client = useControl();
  const { value } = useAnswer({ key: ["certificate authority"], ask: () => client.call("certificate.authority") });
  const trusted = "backlot-authority.pem is the certificate of Backlot’s authority.";
  return (
    value && (
      <AuthorityNote authority={value}>
        {ofClient ? `${trusted} client.pem and client-key.pem are the client’s own, signed by the client authority.` : trusted}
      </AuthorityNote>
    )
  );
}
