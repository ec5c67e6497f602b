package train

import (
	"fmt"
	"slices"
	"strings"

	"mercer/internal/engine/spelling"
)

// elsewhere maps names that other programs use for learners to their names here. The keys are in lower
// case, without separators.
var elsewhere = map[string]string{
	"svc":                        "of features it is called svm here, and of the kernel itself kernel-svm",
	"linearsvc":                  "it is called svm here",
	"linearsvm":                  "it is called svm here",
	"supportvectormachine":       "of features it is called svm here, and of the kernel itself kernel-svm",
	"nusvc":                      "it is kernel-svm with svm-nu",
	"nusvr":                      "it is kernel-svm with svm-nu",
	"csvc":                       "it is kernel-svm with c",
	"libsvm":                     "its machines are called kernel-svm here",
	"liblinear":                  "its machines are called svm, svr and logistic here",
	"linearsvr":                  "it is called svr here",
	"epsilonsvr":                 "it is kernel-svm with epsilon, or svr of features",
	"oneclasssvm":                "of features it is called one-class here, and of the kernel itself it is kernel-svm for the task outliers",
	"ocsvm":                      "of features it is called one-class here, and of the kernel itself it is kernel-svm for the task outliers",
	"outliers":                   "it is called one-class here, or a task",
	"anomaly":                    "it is called one-class here, or residual",
	"novelty":                    "it is called one-class here, or residual",
	"autoencoder":                "residual measures what principal components of features leave out",
	"isolationforest":            "outliers are found by one-class and residual here",
	"lr":                         "it is called logistic here, and for numbers to predict ridge",
	"logisticregression":         "it is called logistic here",
	"logit":                      "it is called logistic here",
	"logreg":                     "it is called logistic here",
	"maxent":                     "it is called logistic here",
	"softmax":                    "it is called logistic here",
	"multinomial":                "it is logistic with multiclass multinomial",
	"crammersinger":              "it is svm with multiclass crammer-singer",
	"linear":                     "linear is a kernel; the learners on it are ridge, svm and logistic",
	"linearregression":           "it is ridge with lambda 0",
	"leastsquares":               "it is ridge with lambda 0",
	"ols":                        "it is ridge with lambda 0",
	"lssvm":                      "it is called ridge here, and of the kernel itself kernel-ridge",
	"ridgeregression":            "it is called ridge here",
	"ridgeclassifier":            "it is called ridge here",
	"tikhonov":                   "it is called ridge here",
	"bayesianridge":              "it is ridge with lambda-by evidence",
	"krr":                        "it is called kernel-ridge here",
	"kernelridgeregression":      "it is called kernel-ridge here",
	"gp":                         "its mean is kernel-ridge; ridge with lambda-by evidence and variance has deviations, too",
	"gaussianprocess":            "its mean is kernel-ridge; ridge with lambda-by evidence and variance has deviations, too",
	"kriging":                    "its mean is kernel-ridge; ridge with lambda-by evidence and variance has deviations, too",
	"l1":                         "it is lasso for squares, or a penalty of svm and logistic",
	"enet":                       "it is called elastic-net here",
	"glasso":                     "it is called group-lasso here",
	"sgd":                        "it is an optimizer of online",
	"adagrad":                    "it is an optimizer of online",
	"sgdclassifier":              "it is called online here",
	"sgdregressor":               "it is called online here",
	"vw":                         "it is called online here",
	"perceptron":                 "online with the loss hinge is near to it",
	"pegasos":                    "online with the loss hinge is near to it",
	"huber":                      "it is a loss of online",
	"quantile":                   "it is a loss of online",
	"pca":                        "principal components are no learner; ask for components of the features",
	"discriminant":               "it is called lda here",
	"fisher":                     "it is called lda here",
	"fda":                        "it is called lda here",
	"lineardiscriminantanalysis": "it is called lda here",
	"gaussianclassifier":         "it is called lda here",
	"multilabel":                 "it is a task; ridge, svm and logistic can do it",
	"rbf": "rbf is a kernel; the learners on it are ridge, svm and logistic of features, " +
		"and kernel-ridge, falkon and kernel-svm of the kernel itself",
	"xgboost":      "rfm has boosted trees beside its kernel machines",
	"randomforest": "rfm has boosted trees beside its kernel machines",
	"gbm":          "rfm has boosted trees beside its kernel machines",
	"neighbours":   "it is called knn here",
	"neighbors":    "it is called knn here",
	"kneighbors":   "it is called knn here",
	"nearest":      "it is called knn here",
	"mlp":          "there is none; ridge or logistic of the arccos kernel is an infinitely wide layer",
}

// unknownLearner is the error for an unknown learner. It says what the learner is called here or which one may have
// been meant, and lists all learners.
func unknownLearner(name string) error {
	names := Learners()
	return fmt.Errorf("learner %q is not known; %sknown are auto, %s", name, meantLearner(name, append([]string{"auto"}, names...)),
		strings.Join(names, ", "))
}

// meantLearner guesses which learner was meant by a name.
func meantLearner(name string, known []string) string {
	without := strings.NewReplacer("_", "", " ", "", "-", "")
	plain := without.Replace(strings.ToLower(name))
	for _, k := range known {
		if without.Replace(k) == plain {
			return "did you mean " + k + "? "
		}
	}
	if text := elsewhere[plain]; text != "" {
		return text + "; "
	}
	if near := spelling.Near(name, known); near != "" {
		return "did you mean " + near + "? "
	}
	others := make([]string, 0, len(elsewhere))
	for other := range elsewhere {
		others = append(others, other)
	}
	slices.Sort(others)
	if near := spelling.Near(plain, others); near != "" {
		return "did you mean " + near + "? " + elsewhere[near] + "; "
	}
	return ""
}
