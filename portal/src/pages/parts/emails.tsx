/** The notices that the person who is signed in gets by e-mail. */
import { useState } from 'preact/hooks';
import { useAction, useResource } from '../../api/hooks.ts';
import { Card } from '../../ui/basics.tsx';
import { Form } from '../../ui/form.tsx';
import { announce } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';

export function Emails() {
  const emails = useResource('getEmails');
  const [changed, setChanged] = useState<readonly string[]>();
  const save = useAction('setEmails', () => {
    setChanged(undefined);
    emails.reload();
    announce('The notices are saved.');
  });
  return (
    <Card title="Notices by e-mail" id="emails">
      <Loaded of={emails} rows={2}>
        {({ state, words, choices }) => {
          const chosen = changed ?? choices.flatMap((one) => (one.is_chosen ? [one.notice] : []));
          return (
            <>
              <p class="dim">{words}</p>
              {state !== 'none' && (
                <Form
                  submit="Save"
                  action={save}
                  isDisabled={!changed && (state === 'on' || state === 'off')}
                  onSubmit={() => save.run({ body: { notices: chosen } })}
                >
                  {choices.map(({ notice, label }) => (
                    <label class="check" key={notice}>
                      <input
                        type="checkbox"
                        checked={chosen.includes(notice)}
                        onChange={({ currentTarget: { checked } }) =>
                          setChanged([
                            ...chosen.filter((one) => one !== notice),
                            ...(checked ? [notice] : []),
                          ])
                        }
                      />{' '}
                      {label}
                    </label>
                  ))}
                </Form>
              )}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
