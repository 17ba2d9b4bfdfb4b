import { makeProblem } from '../../../../src/problem.ts';
import { everything, problems } from './everything.ts';
import { pageOf, type PagePrompt } from './pages.ts';
import { DIGEST, setActive } from '../../support.ts';

const applied: PagePrompt = {
  status: 'applied',
  serves: { staging: [6, 7], production: 6 },
  text: ['Old text.', 'New text.'],
};
const chat: PagePrompt = {
  type: 'chat',
  serves: { staging: [6, 'new'], production: 6 },
  text: [
    '{{role "system"}}\nBe kind.\n\n{{role "assistant"}}\nHello!\n\n{{role "user"}}\n{{question}}',
    '{{role "system"}}\nBe very kind.\n\n{{placeholder "history"}}\n\n{{role "user"}}\nAnswer: {{question}}',
  ],
};
const half: PagePrompt = {
  status: 'failed',
  more: {
    changes: [
      setActive({ after: { id: 'a', version_number: 2 }, status: 'made' }),
      setActive({ environment: 'production', status: 'not_made' }),
    ],
    problems: [makeProblem('service/not-updated', { environment: 'production' })],
  },
};
const edit: PagePrompt = {
  status: 'pending',
  more: { edits: [{ kind: 'set-pin', environment: 'production', before: '6', after: '7' }] },
};
const listed: PagePrompt = {
  more: {
    environments: [
      { environment: 'staging', pin: 'latest', active: { id: 'a', version_number: 1 }, wanted: null, in_sync: false },
    ],
    history: {
      versions: [
        {
          ...{
            id: 'ver_1',
            version_number: 1,
            made_by: 'git',
            digest: DIGEST,
            commit: '9f2c44d01b6d',
            author: 'Ada',
            subject: 'Soften',
          },
          ...{ active_in: ['staging'], pinned: [] },
        },
      ],
    },
  },
};

/** One page of each kind. The keys complete test titles. */
export const SCENES = {
  'a plan with everything': pageOf(everything, { report: { problems } }),
  'a plan with two environments': pageOf(omit('many/environments')),
  'a plan with a chat prompt': pageOf({ 'support/agent': chat }),
  'an apply': pageOf(
    { applied, half, quiet: { serves: { staging: 1 } } },
    { title: 'sync', report: { mode: 'apply' } },
  ),
  'a status': pageOf(everything, { title: 'status', report: { mode: 'status' } }),
  'a history': pageOf({ listed }, { title: 'history', report: { mode: 'history' } }),
  'a promotion': pageOf({ edit }, { title: 'promote', report: { mode: 'promote' } }),
  'errors of a validation': pageOf({}, { title: 'validate', report: { mode: 'validate', problems } }),
  'an empty report': pageOf({}),
} as const;

function omit(key: string): Readonly<Record<string, PagePrompt>> {
  return Object.fromEntries(Object.entries(everything).filter(([name]) => name !== key));
}
