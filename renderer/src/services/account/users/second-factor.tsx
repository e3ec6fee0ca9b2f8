import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ResultOf } from "../../../../../contract/operation.ts";
import { type AccountActions, type AccountUserDetails, accountActions, isTotpSecret } from "../../../../../contract/services/account.ts";
import { useControl } from "../../../control/client-context.tsx";
import { useAnswer } from "../../../control/use-answer.ts";
import { Section } from "../../../inspectors/section.tsx";
import { CopyButton } from "../../../ui/copy/copy-button.tsx";
import { useConfirm } from "../../../ui/forms/confirm.tsx";
import { useReveal } from "../../../ui/forms/secret-text.tsx";
import { Caption } from "../../../ui/panel.tsx";
import { QrCodePicture } from "../../../ui/qr-code.tsx";
import { Answered } from "../../../ui/status/answered.tsx";
import { attempt } from "../../../ui/status/notify.tsx";
import styles from "./user-inspector.module.css";

interface SecondFactorProps {
  readonly user: AccountUserDetails;
  readonly onUser: (user: AccountUserDetails) => void;
}

type Secret = ResultOf<AccountActions["totp.setUp"]>;

/** Codes of an authenticator (TOTP): set up, current code, remove. */
export function SecondFactor({ user, onUser }: SecondFactorProps) {
  const client = useControl();
  const ask = useConfirm();
  const [made, setMade] = useState<Secret>();
  /** A secret that is already in an authenticator. */
  const [own, setOwn] = useState("");
  const valid = own.trim() === "" || isTotpSecret(own.trim());
  const { id, email, secondFactor } = user;
  const setUp = async () => {
    const sure =
      !secondFactor ||
      (await ask({
        title: `Give ${email} a new secret?`,
        text: "Codes of the old secret are refused from now on.",
        action: own.trim() === "" ? "Make a new secret" : "Use the new secret",
      }));
    if (!sure) return;
    const given = own.trim() === "" ? {} : { secret: own.trim() };
    const done = await attempt(client.action(accountActions, "account", "totp.setUp", { id, ...given }).then(setMade));
    if (done) setOwn("");
  };
  const remove = async () => {
    const sure = await ask({
      title: `Remove the second factor of ${email}?`,
      text: "The password alone is enough from now on. The secret is deleted.",
      action: "Remove second factor",
    });
    if (!sure) return;
    setMade(undefined);
    await attempt(client.action(accountActions, "account", "totp.remove", { id }).then(onUser));
  };
  return (
    <Section
      title="Second factor"
      facts={secondFactor ? "Login needs a code" : "Login needs the password only"}
      actions={secondFactor && <Button onClick={() => void remove()}>Remove</Button>}
    >
      <div className={styles.row}>
        <TextInput
          className={styles.grow}
          aria-label="Secret of the second factor"
          placeholder="Secret in Base32; empty generates one"
          value={own}
          maxLength={200}
          spellCheck={false}
          autoComplete="off"
          error={valid ? undefined : "16 or more letters A–Z and digits 2–7"}
          onChange={(event) => setOwn(event.currentTarget.value)}
        />
        <Button disabled={!valid} onClick={() => void setUp()}>
          {secondFactor ? "New secret" : "Set up"}
        </Button>
      </div>
      {secondFactor && <CurrentCode id={id} shift={user.clockShiftSeconds} />}
      {made && <MadeSecret made={made} />}
    </Section>
  );
}

const codeEveryMs = 1_000;

/** The current code by the user's clock, so that it can be tried without a phone. */
function CurrentCode({ id, shift }: { readonly id: number; readonly shift: number }) {
  const client = useControl();
  const answer = useAnswer({
    key: ["account", "code", id],
    ask: () => client.action(accountActions, "account", "totp.code", { id }),
    version: shift,
    everyMs: codeEveryMs,
  });
  return (
    <Answered answer={answer} what="the current code" compact>
      {(code) =>
        code && (
          <div className={styles.code}>
            <Caption grow>Current code</Caption>
            {/* Not an <output>: each new code would be announced. */}
            <span className={styles.digits}>{`${code.code.slice(0, 3)} ${code.code.slice(3)}`}</span>
            <CopyButton text={code.code} what="the code" />
            <span className={styles.left}>{`${code.secondsLeft} s left`}</span>
          </div>
        )
      }
    </Answered>
  );
}

/** Only in the answer that created it. */
function MadeSecret({ made }: { readonly made: Secret }) {
  const { revealed, button } = useReveal("the secret");
  return (
    <div className={styles.secret}>
      <p className={styles.once}>The secret is shown only now. Add it to an authenticator, or keep its URL. Reveal it to scan its code.</p>
      <div className={styles.secretLine}>
        <code className={styles.secretText}>{revealed ? made.secret : "•".repeat(16)}</code>
        {button}
        <CopyButton text={made.secret} what="the secret" />
      </div>
      <div className={styles.secretLine}>
        <code className={styles.secretText}>{revealed ? made.uri : made.uri.replace(made.secret, "••••••")}</code>
        <CopyButton text={made.uri} what="the otpauth address" />
      </div>
      {revealed && <QrCodePicture qr={made.qr} label="Code of the otpauth address, to be scanned by an authenticator" />}
    </div>
  );
}
