"""The works that reports cite, in one table."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A work as it is cited; `doi` without an address before it, empty where it has none."""

    authors: str
    year: int
    title: str
    container: str
    doi: str = ""

    def cite(self) -> str:
        """In one line."""
        work = f"{self.authors} ({self.year}). {self.title}. {self.container}."
        return f"{work} https://doi.org/{self.doi}" if self.doi else work

    def as_json(self) -> dict[str, str | int]:
        """Every part of it."""
        return dict(vars(self))


_JASA = "Journal of the American Statistical Association"
_ICML = "International Conference on Machine Learning"
_NEURIPS = "Advances in Neural Information Processing Systems"
_FOCS = "IEEE Symposium on Foundations of Computer Science"
_CCS = "ACM Conference on Computer and Communications Security"

REFERENCES: Mapping[str, Reference] = {
    "aapor": Reference(
        "American Association for Public Opinion Research",
        2023,
        "Standard definitions: final dispositions of case codes and outcome rates for surveys",
        "10th edition, AAPOR",
    ),
    "balle_wang": Reference(
        "Balle, B. and Wang, Y.-X.",
        2018,
        "Improving the Gaussian mechanism for differential privacy: analytical calibration and optimal denoising",
        f"{_ICML}, 394–403",
    ),
    "blaker": Reference(
        "Blaker, H.",
        2000,
        "Confidence curves and improved exact confidence intervals for discrete distributions",
        "Canadian Journal of Statistics 28 (4), 783–798",
        "10.2307/3315916",
    ),
    "boruch": Reference(
        "Boruch, R. F.",
        1971,
        "Assuring confidentiality of responses in social research: a note on strategies",
        "The American Sociologist 6 (4), 308–311",
    ),
    "canonne": Reference(
        "Canonne, C. L., Kamath, G. and Steinke, T.",
        2020,
        "The discrete Gaussian for differential privacy",
        f"{_NEURIPS} 33",
    ),
    "chernoff": Reference(
        "Chernoff, H.",
        1952,
        "A measure of asymptotic efficiency for tests of a hypothesis based on the sum of observations",
        "Annals of Mathematical Statistics 23 (4), 493–507",
        "10.1214/aoms/1177729330",
    ),
    "cochran": Reference("Cochran, W. G.", 1977, "Sampling techniques", "3rd edition, Wiley"),
    "deming_stephan": Reference(
        "Deming, W. E. and Stephan, F. F.",
        1940,
        "On a least squares adjustment of a sampled frequency table when the expected marginal totals are known",
        "Annals of Mathematical Statistics 11 (4), 427–444",
        "10.1214/aoms/1177731829",
    ),
    "duchi": Reference(
        "Duchi, J. C., Jordan, M. I. and Wainwright, M. J.",
        2013,
        "Local privacy and statistical minimax rates",
        f"{_FOCS}, 429–438",
        "10.1109/FOCS.2013.53",
    ),
    "dwork_roth": Reference(
        "Dwork, C. and Roth, A.",
        2014,
        "The algorithmic foundations of differential privacy",
        "Foundations and Trends in Theoretical Computer Science 9 (3–4), 211–407",
        "10.1561/0400000042",
    ),
    "erlingsson": Reference(
        "Erlingsson, Ú., Pihur, V. and Korolova, A.",
        2014,
        "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
        f"{_CCS}, 1054–1067",
        "10.1145/2660267.2660348",
    ),
    "feldman": Reference(
        "Feldman, V., McMillan, A. and Talwar, K.",
        2021,
        "Hiding among the clones: a simple and nearly optimal analysis of privacy amplification by shuffling",
        f"{_FOCS}, 954–964",
        "10.1109/FOCS52979.2021.00096",
    ),
    "fieller": Reference(
        "Fieller, E. C.",
        1954,
        "Some problems in interval estimation",
        "Journal of the Royal Statistical Society, Series B 16 (2), 175–185",
        "10.1111/j.2517-6161.1954.tb00159.x",
    ),
    "fleiss": Reference(
        "Fleiss, J. L., Levin, B. and Paik, M. C.",
        2003,
        "Statistical methods for rates and proportions",
        "3rd edition, Wiley",
    ),
    "ghosh": Reference(
        "Ghosh, A., Roughgarden, T. and Sundararajan, M.",
        2009,
        "Universally utility-maximizing privacy mechanisms",
        "ACM Symposium on Theory of Computing, 351–360",
        "10.1145/1536414.1536464",
    ),
    "greenberg": Reference(
        "Greenberg, B. G., Abul-Ela, A.-L. A., Simmons, W. R. and Horvitz, D. G.",
        1969,
        "The unrelated question randomized response model: theoretical framework",
        f"{_JASA} 64 (326), 520–539",
        "10.1080/01621459.1969.10500991",
    ),
    "hay": Reference(
        "Hay, M., Rastogi, V., Miklau, G. and Suciu, D.",
        2010,
        "Boosting the accuracy of differentially private histograms through consistency",
        "Proceedings of the VLDB Endowment 3 (1), 1021–1032",
        "10.14778/1920841.1920970",
    ),
    "kairouz": Reference(
        "Kairouz, P., Bonawitz, K. and Ramage, D.",
        2016,
        "Discrete distribution estimation under local privacy",
        f"{_ICML}, 2436–2444",
    ),
    "kairouz_oh": Reference(
        "Kairouz, P., Oh, S. and Viswanath, P.",
        2015,
        "The composition theorem for differential privacy",
        f"{_ICML}, 1376–1385",
    ),
    "kish": Reference(
        "Kish, L.", 1992, "Weighting for unequal Pi", "Journal of Official Statistics 8 (2), 183–200"
    ),
    "kuk": Reference(
        "Kuk, A. Y. C.",
        1990,
        "Asking sensitive questions indirectly",
        "Biometrika 77 (2), 436–438",
        "10.1093/biomet/77.2.436",
    ),
    "lyu": Reference(
        "Lyu, M., Su, D. and Li, N.",
        2017,
        "Understanding the sparse vector technique for differential privacy",
        "Proceedings of the VLDB Endowment 10 (6), 637–648",
        "10.14778/3055330.3055331",
    ),
    "mckenna": Reference(
        "McKenna, R. and Sheldon, D.",
        2020,
        "Permute-and-flip: a new mechanism for differentially private selection",
        f"{_NEURIPS} 33",
    ),
    "mcsherry": Reference(
        "McSherry, F. and Talwar, K.",
        2007,
        "Mechanism design via differential privacy",
        f"{_FOCS}, 94–103",
        "10.1109/FOCS.2007.66",
    ),
    "mironov": Reference(
        "Mironov, I.",
        2012,
        "On significance of the least significant bits for differential privacy",
        f"{_CCS}, 650–661",
        "10.1145/2382196.2382264",
    ),
    "robbins": Reference(
        "Robbins, H.",
        1970,
        "Statistical methods related to the law of the iterated logarithm",
        "Annals of Mathematical Statistics 41 (5), 1397–1409",
        "10.1214/aoms/1177696786",
    ),
    "tango": Reference(
        "Tango, T.",
        1998,
        "Equivalence test and confidence interval for the difference in proportions for the paired-sample design",
        "Statistics in Medicine 17 (8), 891–908",
        "10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B",
    ),
    "wang": Reference(
        "Wang, T., Blocki, J., Li, N. and Jha, S.",
        2017,
        "Locally differentially private protocols for frequency estimation",
        "USENIX Security Symposium, 729–745",
    ),
    "warner": Reference(
        "Warner, S. L.",
        1965,
        "Randomized response: a survey technique for eliminating evasive answer bias",
        f"{_JASA} 60 (309), 63–69",
        "10.1080/01621459.1965.10480775",
    ),
    "waudby_smith": Reference(
        "Waudby-Smith, I., Wu, Z. S. and Ramdas, A.",
        2023,
        "Nonparametric extensions of randomized response for private confidence sets",
        _ICML,
    ),
    "wilson": Reference(
        "Wilson, E. B.",
        1927,
        "Probable inference, the law of succession, and statistical inference",
        f"{_JASA} 22 (158), 209–212",
        "10.1080/01621459.1927.10502953",
    ),
    "yu": Reference(
        "Yu, J.-W., Tian, G.-L. and Tang, M.-L.",
        2008,
        "Two new models for survey sampling with sensitive characteristic: design and analysis",
        "Metrika 67 (3), 251–263",
        "10.1007/s00184-007-0131-x",
    ),
    "zou_donner": Reference(
        "Zou, G. Y. and Donner, A.",
        2008,
        "Construction of confidence limits about effect measures: a general approach",
        "Statistics in Medicine 27 (10), 1693–1702",
        "10.1002/sim.3095",
    ),
}
"""In alphabetical order of their authors."""
