import { ActionIcon, Button, Input, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useMemo } from "react";
import type { GrpcServiceView } from "../../../../../contract/services/grpc.ts";
import { CodeArea } from "../../../ui/forms/code-area.tsx";
import { type DraftForm, FormColumns, FormStack, TextAreaField, TextField } from "../../../ui/forms/draft-form.tsx";
import { Caption, SectionTitle, Spring } from "../../../ui/panel.tsx";
import { messageTemplate } from "../schema/message-template.ts";
import type { GrpcSchema } from "../schema/use-grpc-schema.ts";
import { detailsExample, StatusSelect } from "../status-select.tsx";
import styles from "./replies.module.css";
import { type AnswerKind, type ConditionDraft, type ConditionTest, conditionTests, type RuleDraft } from "./rule-draft.ts";

const testWords: Readonly<Record<ConditionTest, string>> = {
  equals: "=",
  matches: "matches",
  contains: "contains",
  exists: "exists",
  greater: ">",
  less: "<",
};
const tests = conditionTests.map((value) => ({ value, label: testWords[value] }));
const answers: readonly { readonly value: AnswerKind; readonly label: string }[] = [
  { value: "reply", label: "Reply" },
  { value: "stream", label: "Stream" },
  { value: "status", label: "Status" },
  { value: "handler", label: "Handler" },
];
/** A dropdown within the inspector. */
const combobox = { withinPortal: false, floatingStrategy: "fixed" } as const;

interface RuleFormProps {
  readonly form: DraftForm<RuleDraft>;
  readonly services: readonly GrpcServiceView[];
  readonly schema: GrpcSchema | undefined;
}

/** The common parts of a rule; the others are in its JSON. */
export function RuleForm({ form, services, schema }: RuleFormProps) {
  const { draft, set } = form;
  const methods = useMemo(() => {
    const groups = services
      .filter(({ name }) => !name.startsWith("grpc."))
      .map(({ name, methods: all }) => ({ group: name, items: [...all.map((method) => `${name}/${method.name}`), `${name}/*`] }));
    const isKnown = groups.some(({ items }) => items.includes(draft.method));
    return isKnown || draft.method === "" ? groups : [{ group: "Not served", items: [draft.method] }, ...groups];
  }, [services, draft.method]);
  return (
    <FormStack>
      <FormColumns>
        <Select
          label="Method"
          data={methods}
          value={draft.method}
          searchable
          allowDeselect={false}
          size="xs"
          maxDropdownHeight={300}
          comboboxProps={combobox}
          nothingFoundMessage="No such method is served."
          onChange={(method) => method !== null && set({ method })}
        />
        <TextField form={form} name="name" label="Name" placeholder="optional" maxLength={100} />
      </FormColumns>
      <Conditions conditions={draft.conditions} problem={form.problem("conditions")} onChange={(conditions) => set({ conditions })} />
      <AnswerFields form={form} services={services} schema={schema} />
      <FormColumns>
        <TextField form={form} name="delay" mono label="Delay" placeholder="250ms, 2s" />
        <TextField
          form={form}
          name="times"
          mono
          label="Times"
          placeholder="always"
          title="Answers this many times; then the next matching rule does"
        />
        <TextField form={form} name="waitFor" mono label="Waits for" placeholder="name of a release" />
        <TextField form={form} name="release" mono label="Releases" placeholder="name of a release" />
      </FormColumns>
    </FormStack>
  );
}

interface ConditionsProps {
  readonly conditions: readonly ConditionDraft[];
  readonly problem: string | undefined;
  readonly onChange: (conditions: readonly ConditionDraft[]) => void;
}

function Conditions({ conditions, problem, onChange }: ConditionsProps) {
  const change = (at: number, part: Partial<ConditionDraft>) =>
    onChange(conditions.map((condition, index) => (index === at ? { ...condition, ...part } : condition)));
  const add: ConditionDraft = { of: "request", name: "", test: "equals", value: "" };
  return (
    <section aria-label="Conditions">
      <div className={styles.head}>
        <SectionTitle as="h3">When</SectionTitle>
        <Caption>{conditions.length === 0 ? "always" : "all of these hold"}</Caption>
        <Spring />
        <Button size="compact-xs" variant="subtle" leftSection={<IconPlus size={13} />} onClick={() => onChange([...conditions, add])}>
          Add condition
        </Button>
      </div>
      {conditions.map(({ of, name, test, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place; names are typed and may repeat.
        <div key={index} className={styles.condition}>
          <Select
            aria-label={`Condition ${index + 1}, of`}
            size="xs"
            data={["request", "metadata"]}
            value={of}
            allowDeselect={false}
            comboboxProps={combobox}
            onChange={(next) => change(index, { of: next as ConditionDraft["of"] })}
          />
          <TextInput
            aria-label={`Condition ${index + 1}, field`}
            placeholder={of === "request" ? "address.city" : "x-tenant"}
            value={name}
            error={problem !== undefined && name.trim() === ""}
            spellCheck={false}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <Select
            aria-label={`Condition ${index + 1}, test`}
            size="xs"
            data={tests}
            value={test}
            allowDeselect={false}
            comboboxProps={combobox}
            onChange={(next) => change(index, { test: next as ConditionTest })}
          />
          <TextInput
            aria-label={`Condition ${index + 1}, value`}
            placeholder={test === "exists" ? "true or false" : "value"}
            value={value}
            spellCheck={false}
            onChange={(event) => change(index, { value: event.currentTarget.value })}
          />
          <ActionIcon
            aria-label={`Remove condition ${index + 1}`}
            onClick={() => onChange(conditions.filter((_, other) => other !== index))}
          >
            <IconX size={14} stroke={1.5} />
          </ActionIcon>
        </div>
      ))}
      {problem !== undefined && <Input.Error mt={6}>{problem}</Input.Error>}
    </section>
  );
}

const exampleScript = (message: unknown): unknown => [
  { message },
  { pause: "500ms" },
  { repeat: 3, steps: [{ message }, { pause: "500ms" }] },
];

function AnswerFields({ form, services, schema }: RuleFormProps) {
  const { draft, set, problem } = form;
  const method = services.flatMap(({ methods }) => methods).find(({ path }) => path === `/${draft.method}`);
  const type = method && schema?.getMessage(method.responseType);
  const streams = method === undefined || method.pattern === "server stream" || method.pattern === "bidi stream";
  const templateOf = (answer: AnswerKind): string | undefined => {
    const message = schema && type ? messageTemplate(schema, type) : undefined;
    if (message === undefined) return undefined;
    return JSON.stringify(answer === "stream" ? exampleScript(message) : message, null, 2);
  };
  const template = templateOf(draft.answer);
  const choose = (answer: AnswerKind) =>
    set({
      answer,
      json: templateOf(answer) ?? (answer === "stream" ? "[]" : "{}"),
      ...(answer === "status" && draft.code === "" && { code: "UNAVAILABLE" }),
    });
  return (
    <section aria-label="Answer">
      <div className={styles.head}>
        <SectionTitle as="h3">Answer</SectionTitle>
        <Caption grow title={method?.responseType}>
          {method && <code>{method.responseType}</code>}
        </Caption>
        {(draft.answer === "reply" || draft.answer === "stream") && (
          <Button
            size="compact-xs"
            variant="subtle"
            title="Every field with its default"
            disabled={template === undefined || template === draft.json}
            onClick={() => set({ json: template ?? "" })}
          >
            Template
          </Button>
        )}
        <SegmentedControl
          aria-label="Answer with"
          data={answers.filter(({ value }) => value !== "stream" || streams || draft.answer === "stream")}
          value={draft.answer}
          onChange={(value) => choose(value as AnswerKind)}
        />
      </div>
      <Input.Wrapper error={problem("json")} mt={6}>
        {draft.answer === "status" ? (
          <FormStack>
            <FormColumns>
              <StatusSelect value={draft.code} onChange={(code) => set({ code })} />
              <TextField form={form} name="message" aria-label="Message of the status" placeholder="message" />
            </FormColumns>
            <TextAreaField
              form={form}
              name="details"
              mono
              aria-label="Details of the status as JSON"
              placeholder={detailsExample}
              minRows={2}
              maxRows={8}
            />
          </FormStack>
        ) : draft.answer === "handler" ? (
          <Caption>The method's own handler answers, after the delay.</Caption>
        ) : (
          <CodeArea
            aria-label={draft.answer === "reply" ? "Reply as JSON" : "Steps as JSON"}
            minRows={6}
            maxRows={18}
            error={problem("json") !== undefined}
            value={draft.json}
            onChange={(json) => set({ json })}
          />
        )}
      </Input.Wrapper>
    </section>
  );
}
