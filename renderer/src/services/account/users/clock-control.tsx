import { Button, NumberInput, Select } from "@mantine/core";
import { useState } from "react";
import { type AccountUserDetails, accountActions } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { Section } from "../../../inspectors/section.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import { useNow } from "../../../ui/status/since.tsx";
import { wallTime } from "../wall-time.ts";
import { clockSteps, clockUnits, formatShift, withinWidest } from "./clock-shift.ts";
import styles from "./user-inspector.module.css";

interface ClockControlProps {
  readonly id: number;
  readonly email: string;
  readonly seconds: number;
  readonly onUser?: (user: AccountUserDetails) => void;
}

/** Shifts the clock that applies to this user's tokens, codes and sign-ins. */
export function ClockControl({ id, email, seconds, onUser }: ClockControlProps) {
  const client = useControl();
  const now = useNow();
  const [amount, setAmount] = useState<number | string>(2);
  const [unit, setUnit] = useState<string>("3600");
  const shift = (to: number) =>
    attempt(client.action(accountActions, "account", "user.shiftClock", { id, seconds: withinWidest(to) }).then((user) => onUser?.(user)));
  return (
    <Section
      title="Clock"
      facts={
        <span title={`The time used for tokens, codes and logins of ${email}`}>
          <span className={seconds === 0 ? undefined : styles.shifted}>{formatShift(seconds)}</span>
          {` · ${wallTime(now + seconds * 1_000)}`}
        </span>
      }
      actions={
        <Button disabled={seconds === 0} onClick={() => void shift(0)}>
          Back to now
        </Button>
      }
    >
      <div className={styles.row}>
        {clockSteps.map((step) => (
          <Button key={step.label} size="xs" px={8} onClick={() => void shift(seconds + step.seconds)}>
            {step.label}
          </Button>
        ))}
      </div>
      <div className={styles.row}>
        <NumberInput
          size="xs"
          w={88}
          aria-label="Shift the clock by"
          value={amount}
          onChange={setAmount}
          min={-100_000}
          max={100_000}
          clampBehavior="strict"
        />
        <Select
          size="xs"
          w={104}
          aria-label="Unit"
          data={clockUnits.map((entry) => ({ ...entry }))}
          value={unit}
          allowDeselect={false}
          withScrollArea={false}
          comboboxProps={{ withinPortal: false }}
          onChange={(value) => setUnit(value ?? "3600")}
        />
        <Button disabled={typeof amount !== "number" || amount === 0} onClick={() => void shift(seconds + Number(amount) * Number(unit))}>
          Shift
        </Button>
      </div>
    </Section>
  );
}
