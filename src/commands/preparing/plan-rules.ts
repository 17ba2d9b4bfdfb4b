import { forbidsLatest, promotedFrom } from '../../config/config.ts';
import type { Plan } from '../../domain/plan.ts';
import type { PlanRules } from '../../planning/make-plan.ts';
import { readContentsAtRefs } from '../past/contents-at-refs.ts';
import { driftsInFields, makeBase, withFormerFields } from '../past/make-base.ts';
import type { Prepared } from './prepare-plan.ts';
import { withFormerPins } from '../past/promotion-rules.ts';
import type { BaseFiles } from '../past/read-base.ts';

type Sources = Pick<Prepared, 'config' | 'files' | 'repository'> & {
  readonly base: BaseFiles | null;
  /** Whether the service is. */
  readonly asked: boolean;
};

/** What planning depends on besides files and observation. */
export async function rulesOf({ config, files, repository, base, asked }: Sources): Promise<PlanRules> {
  const { environments, trackingEnvironment } = config;
  const now = new Set(files);
  const then = [...(base?.files.values() ?? [])].filter((file) => !now.has(file));
  return {
    environmentOrder: environments?.map(({ name }) => name) ?? null,
    latestForbidden: forbidsLatest(config),
    trackingEnvironment,
    contentsAtRefs: await readContentsAtRefs([...files, ...then], repository),
    base: base === null || repository === null ? null : await makeBase(base, repository),
    // Which number an environment serves is known only where the service is asked.
    promotedFrom: asked ? promotedFrom(config) : new Map(),
    formerPins: new Map(),
  };
}

/** The rules with what git knows of earlier commits, which is read only where a plan asks for it. */
export async function withHistory(plan: Plan, rules: PlanRules, sources: Sources): Promise<PlanRules> {
  const { base, repository } = sources;
  if (repository === null) return rules;
  const promoted = await withFormerPins(plan, rules, { repository, base });
  if (rules.base === null || base === null || !plan.prompts.some(driftsInFields)) return promoted;
  return { ...promoted, base: await withFormerFields(rules.base, base.commit, plan, repository) };
}
